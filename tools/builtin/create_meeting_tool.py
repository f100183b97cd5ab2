"""create_meeting_tool: schedules a meeting."""

from __future__ import annotations

from pydantic import Field

from projects.models import Project
from tools.engine.builtin_tool import BuiltinTool, BusinessState, RetryPolicy, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import BookingKind
from tools.services.bookings.reservations import ReservationArguments, reservation_repeat, reserve
from tools.services.calendar.availability import CalendarView, calendar_aware_handler

WAIT_SECONDS = 30
INTEGRATION = "project_attributes_setting_calendar_event_integration"


class MeetingArguments(ReservationArguments):
    """Details that the agent and the customer agreed on for a meeting."""

    title: str | None = Field(None, description="What the meeting is about, in a few words; null when nobody said.")


def google_calendar(state: BusinessState) -> str:
    """Open if the calendar integration is Google's."""
    found = state.attributes.get(INTEGRATION)
    return "" if found and found.value == "google_integration" else f"{INTEGRATION} is not google_integration"


def create_meeting(project: Project, details: MeetingArguments, context: ToolContext, view: CalendarView) -> Outcome:
    """Book the agreed meeting, or say why not and what is free instead."""
    return reserve(project, details, context, kind=BookingKind.MEETING, busy=view.busy, title=details.title or "")


TOOL = BuiltinTool(
    name="create_meeting_tool",
    kind="meeting",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=google_calendar,
    definition=define(
        "Puts a meeting into the calendar.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to schedule or set up a meeting or a call in the calendar now.",
        },
        history=True,
    ),
    handler=Handler(
        execute=calendar_aware_handler(MeetingArguments, create_meeting),
        arguments=MeetingArguments,
        repeat_of=reservation_repeat,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
