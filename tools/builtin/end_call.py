"""end_call: hangs up after the goodbye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome, Signal


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """The channel hangs up when the reply is sent; the agent says nothing after it."""
    return Outcome.done("The call has ended.", result={"ended": True}, signal=Signal.END)


TOOL = BuiltinTool(
    name="end_call",
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    is_always_listed=True,
    definition=define("Ends the running call. Say goodbye in the same answer."),
    handler=Handler(execute=execute),
    moments=(Trigger.TURN, Trigger.LIVE),
    channels=("phone",),
    category="phone",
    section="""\
### Ending the Call
- When the conversation is naturally over, say your goodbye and IMMEDIATELY call `end_call`.
- Do NOT wait for the caller to respond after your farewell.
- Do NOT announce that you are ending the call — just say goodbye and invoke the tool.""",
)
