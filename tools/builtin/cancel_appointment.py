"""cancel_appointment: cancels the customer's own booking while the agent replies."""

from __future__ import annotations

from tools.builtin.cancel_booking_tool import cancel_booking
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.bookings.booking_reference import BookingReference
from tools.services.bookings.handler_adapter import transactional_handler

TOOL = BuiltinTool(
    name="cancel_appointment",
    kind="booking_cancel",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=needs_calendar,
    definition=define("Cancels a booking of the customer's, once they have said that they want it cancelled."),
    handler=Handler(
        execute=transactional_handler(BookingReference, cancel_booking),
        arguments=BookingReference,
    ),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
)
