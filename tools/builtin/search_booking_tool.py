"""search_booking_tool: finds a standing booking (N23)."""

from __future__ import annotations

from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by

TOOL = BuiltinTool(
    name="search_booking_tool",
    kind="booking_search",
    delivery=Delivery.IDEMPOTENT,
    gate=switched_on_by("project_attributes_setting_booking_enabled"),
    definition=define(
        "Finds a booking that the customer has already made.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to look up or find the customer's existing booking now.",
        },
    ),
)
