"""check_verification_code: compares the customer's code with the one that was sent."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.verification.checking import CodeArguments, check_code

TOOL = BuiltinTool(
    name="check_verification_code",
    # No ledger entry, because it would store the typed code. The code's own row counts tries and records the
    # verification.
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_calendar,
    definition=define("Checks the one-time code that the customer says they got, to verify who they are."),
    handler=Handler(execute=check_code, arguments=CodeArguments, hidden=frozenset({"code"})),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
