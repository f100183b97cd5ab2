"""lookup_appointment: finds the customer's own bookings while the agent answers (F07, D14)."""

from __future__ import annotations

from tools.book.desk import at_desk
from tools.book.verified import verified
from tools.book.which import WhichBooking
from tools.builtin.base import BuiltinTool, Delivery, Moment, define
from tools.builtin.gates import needs_calendar
from tools.builtin.search_booking_tool import search_booking
from tools.execution.handler import Handler

TOOL = BuiltinTool(
    name="lookup_appointment",
    kind="booking_search",
    delivery=Delivery.IDEMPOTENT,
    gate=needs_calendar,
    definition=define("Finds the bookings that the customer has made."),
    handler=Handler(carry_out=at_desk(WhichBooking, verified(search_booking)), arguments=WhichBooking),
    moments=(Moment.TURN, Moment.LIVE),
    category="calendar",
)
