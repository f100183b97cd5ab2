"""end_conversation_tool: ends the conversation; always available."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome, Signal


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """No request is sent: the conversation ends in the transaction that stores this outcome."""
    return Outcome.done("", result={"ended": True}, signal=Signal.END, adapter="makegood")


TOOL = BuiltinTool(
    name="end_conversation_tool",
    kind="end",
    # No request is sent: the signal takes effect in the transaction that stores the outcome, so retries are safe.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    definition=define(
        "Ends the conversation after the goodbye.",
        conditions={
            "agentSaidGoodbye": "The agent says goodbye as the last thing in this answer.",
            "agentAsksNothing": "The agent asks no question in this answer.",
        },
    ),
    handler=Handler(execute=execute),
    moments=(Trigger.COMMITMENT,),
)
