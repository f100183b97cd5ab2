"""lookup_caller: returns what the business's records say about the caller."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_source
from tools.services.caller_lookup.lookup import KIND, look_up_caller

TOOL = BuiltinTool(
    name="lookup_caller",
    kind="caller_lookup",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_source(KIND),
    definition=define("Looks up who is calling in the business's own records, by the number of the call."),
    handler=Handler(execute=look_up_caller),
    moments=(Trigger.TURN, Trigger.LIVE),
    channels=("phone",),
    category="phone",
    section="""\
### Looking Up the Caller
- Call `lookup_caller` proactively at the start of the call, before you answer for the first time. Don't wait to be asked for it.
- The number is known already: never ask for it to look somebody up.
- Use what it says to be of help; don't read it out, and don't say that you looked anybody up.""",
)
