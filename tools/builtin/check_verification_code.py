"""check_verification_code: compares the code that the customer says with the one that was sent (D14, F08)."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.verification.checking import TypedCode, check_code

TOOL = BuiltinTool(
    name="check_verification_code",
    # What was typed is kept in no ledger; the codes' own rows count the tries, and say who was verified when.
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    gate=needs_calendar,
    definition=define("Checks the one-time code that the customer says they got, to verify who they are."),
    handler=Handler(execute=check_code, arguments=TypedCode, hidden=frozenset({"code"})),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
