"""book_appointment: books while the agent replies; same kind of effect as create_booking_tool."""

from __future__ import annotations

from tools.builtin.create_booking_tool import create_booking
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.bookings.reservations import ReservationArguments, reservation_repeat
from tools.services.calendar.availability import calendar_aware_handler

TOOL = BuiltinTool(
    name="book_appointment",
    kind="booking",
    # Each effect makes at most one booking, so retries are safe.
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=needs_calendar,
    definition=define("Books a day and time that the customer has agreed to."),
    handler=Handler(
        execute=calendar_aware_handler(ReservationArguments, create_booking),
        arguments=ReservationArguments,
        repeat_of=reservation_repeat,
    ),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
