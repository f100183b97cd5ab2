"""send_verification_code: sends a one-time code to the address on file (D14, F08)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, Moment, define
from tools.builtin.gates import needs_calendar
from tools.execution.handler import Handler
from tools.verification.sending import HowToSend, send_code

TOOL = BuiltinTool(
    name="send_verification_code",
    kind="verification_code",
    delivery=Delivery.ONCE,
    gate=needs_calendar,
    definition=define(
        "Sends a one-time code to the phone number or e-mail address that is on file for the customer, to verify who they are."
    ),
    handler=Handler(carry_out=send_code, arguments=HowToSend),
    moments=(Moment.TURN, Moment.LIVE),
    category="calendar",
)
