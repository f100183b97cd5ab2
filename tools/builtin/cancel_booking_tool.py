"""cancel_booking_tool: cancels a booking (N24, D19)."""

from __future__ import annotations

from tools.builtin.base import Attributes, BuiltinTool, Delivery, define, switched_on_by

SWITCH = "project_attributes_setting_booking_cancellation_enabled"
TYPE = "project_attributes_setting_booking_cancellation_type"


def cancellation(attributes: Attributes, channel: str) -> str:
    """Open when switched on and the cancellation's type is endpoint or project, which it is by default."""
    if closed := switched_on_by(SWITCH)(attributes, channel):
        return closed
    kind = attributes[TYPE].value if TYPE in attributes else "project"
    return "" if kind in {"endpoint", "project"} else f"{TYPE} is {kind}, neither endpoint nor project"


TOOL = BuiltinTool(
    name="cancel_booking_tool",
    kind="booking_cancel",
    delivery=Delivery.ONCE,
    gate=cancellation,
    definition=define(
        "Cancels a booking that the customer has already made.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to cancel the customer's existing booking now.",
            "customerAsked": "The customer asked for the cancellation.",
        },
        history=True,
    ),
)
