"""create_meeting_tool: makes a meeting (N28)."""

from __future__ import annotations

from tools.builtin.base import Attributes, BuiltinTool, Delivery, define

INTEGRATION = "project_attributes_setting_calendar_event_integration"


def google_calendar(attributes: Attributes, channel: str) -> str:
    """Open when the calendar's integration is Google's."""
    found = attributes.get(INTEGRATION)
    return "" if found and found.value == "google_integration" else f"{INTEGRATION} is not google_integration"


TOOL = BuiltinTool(
    name="create_meeting_tool",
    kind="meeting",
    delivery=Delivery.ONCE,
    gate=google_calendar,
    definition=define(
        "Puts a meeting into the calendar.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to schedule or set up a meeting or a call in the calendar now.",
        },
        history=True,
    ),
)
