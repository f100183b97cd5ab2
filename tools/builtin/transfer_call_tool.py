"""transfer_call_tool: hands a call to a person, on the phone only (N27)."""

from __future__ import annotations

from tools.builtin.base import Attributes, BuiltinTool, Delivery, define, switched_on_by

SWITCH = "project_attributes_setting_transfer_call_enabled"


def transfer(attributes: Attributes, channel: str) -> str:
    """Open when switched on, in a phone conversation."""
    return switched_on_by(SWITCH)(attributes, channel) or (
        "" if channel == "phone" else f"phone only, this is {channel}"
    )


TOOL = BuiltinTool(
    name="transfer_call_tool",
    kind="transfer",
    delivery=Delivery.ONCE,
    gate=transfer,
    definition=define(
        "Transfers the running call to a person.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to transfer or connect the caller, or put them through to a person now.",
        },
    ),
)
