"""end_conversation_tool: ends the conversation; always there (N31, D20)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, always, define

TOOL = BuiltinTool(
    name="end_conversation_tool",
    kind="end",
    delivery=Delivery.ONCE,
    gate=always,
    definition=define(
        "Ends the conversation after the goodbye.",
        conditions={
            "agentSaidGoodbye": "The agent says goodbye as the last thing in this answer.",
            "agentAsksNothing": "The agent asks no question in this answer.",
        },
    ),
)
