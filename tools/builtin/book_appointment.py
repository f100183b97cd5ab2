"""book_appointment: books while the agent replies; same kind of effect as create_booking_tool."""

from __future__ import annotations

from tools.builtin.create_booking_tool import create_booking
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.bookings.reservations import Agreed, same_reservation
from tools.services.calendar.availability import at_sighted_desk

TOOL = BuiltinTool(
    name="book_appointment",
    kind="booking",
    # Each effect makes at most one booking, so retries are safe.
    delivery=RetryPolicy.IDEMPOTENT,
    gate=needs_calendar,
    definition=define("Books a day and time that the customer has agreed to."),
    handler=Handler(execute=at_sighted_desk(Agreed, create_booking), arguments=Agreed, repeat_of=same_reservation),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
