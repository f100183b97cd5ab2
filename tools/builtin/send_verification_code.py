"""send_verification_code: sends a one-time code to the contact on file."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.verification.sending import SendCodeArguments, send_code

TOOL = BuiltinTool(
    name="send_verification_code",
    kind="verification_code",
    delivery=RetryPolicy.ONCE,
    keeps_promise=False,
    gate=needs_calendar,
    definition=define(
        "Sends a one-time code to the phone number or e-mail address that is on file for the customer, to verify who they are."
    ),
    handler=Handler(execute=send_code, arguments=SendCodeArguments),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
