"""create_booking_tool: makes a booking (N23)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="create_booking_tool",
    kind="booking",
    delivery=Delivery.ONCE,
    gate=switched_on_by("project_attributes_setting_booking_enabled"),
    definition=define(
        "Makes a new booking or reservation in the booking book.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to book, reserve or confirm a table, slot or appointment now.",
            "customerAgreed": "The customer has agreed to this day and time.",
        },
        history=True,
    ),
)
