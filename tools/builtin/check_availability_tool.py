"""check_availability_tool: looks up free slots (N22, N42)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="check_availability_tool",
    kind="availability",
    delivery=Delivery.IDEMPOTENT,
    gate=switched_on_by("project_attributes_setting_booking_check_availability_enabled"),
    definition=define(
        "Looks up in the booking book whether a table, slot or appointment is free at a day and time.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check or look up whether a day, time or table is available now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="availability",
    ),
)
