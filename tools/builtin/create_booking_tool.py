"""create_booking_tool: makes a booking."""

from __future__ import annotations

from projects.models import Project
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import BookingKind
from tools.services.bookings.reservations import ReservationArguments, reservation_repeat, reserve
from tools.services.calendar.availability import CalendarView, calendar_aware_handler

WAIT_SECONDS = 30


def create_booking(
    project: Project, details: ReservationArguments, context: ToolContext, view: CalendarView
) -> Outcome:
    """Book the agreed time, or say why not and what is free instead."""
    return reserve(project, details, context, kind=BookingKind.BOOKING, busy=view.busy)


TOOL = BuiltinTool(
    name="create_booking_tool",
    kind="booking",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=switched_on_by("project_attributes_setting_booking_enabled"),
    definition=define(
        "Makes a new booking or reservation in the booking book.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to book, reserve or confirm a table, slot or appointment now.",
            "customerAgreed": "The customer has agreed to this day and time.",
        },
        history=True,
    ),
    handler=Handler(
        execute=calendar_aware_handler(ReservationArguments, create_booking),
        arguments=ReservationArguments,
        repeat_of=reservation_repeat,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
