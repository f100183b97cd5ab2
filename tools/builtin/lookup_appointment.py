"""lookup_appointment: finds the customer's own bookings while the agent replies."""

from __future__ import annotations

from tools.builtin.search_booking_tool import search_booking
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.bookings.booking_reference import BookingReference
from tools.services.bookings.handler_adapter import transactional_handler

TOOL = BuiltinTool(
    name="lookup_appointment",
    kind="booking_search",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_calendar,
    definition=define("Finds the bookings that the customer has made."),
    handler=Handler(
        execute=transactional_handler(BookingReference, search_booking),
        arguments=BookingReference,
    ),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
