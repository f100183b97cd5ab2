"""verify_caller: verifies the customer at the level that the project requires."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.verification.matching import NAME, ClaimedContact, verify_caller

TOOL = BuiltinTool(
    name=NAME,
    kind="caller_verification",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_calendar,
    definition=define(
        "Makes sure who the customer is, before what is theirs is told or changed. Says what is needed where it isn't sure yet."
    ),
    handler=Handler(execute=verify_caller, arguments=ClaimedContact),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
    section="""\
### Verifying the Customer
- Before you tell, change or cancel somebody's appointment or booking, call `verify_caller`; who is verified isn't asked again.
- When it asks for a number or an address, ask the customer, and call it again with what they say.
- When it asks for a code, call `send_verification_code`, ask the customer for the code, and pass what they say to
  `check_verification_code`. You don't know the code, and never guess one.
- Never say what is on file for a customer: no number, no address, no name.""",
)
