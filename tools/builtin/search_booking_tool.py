"""search_booking_tool: finds upcoming bookings."""

from __future__ import annotations

from projects.models import Project
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.booking_reference import BookingReference, search_bookings
from tools.services.bookings.date_words import join_words
from tools.services.bookings.finding import is_proven
from tools.services.bookings.formatting import booking_data, booking_words, guarded_data
from tools.services.bookings.handler_adapter import transactional_handler

WAIT_SECONDS = 30


def search_booking(project: Project, reference: BookingReference, context: ToolContext) -> Outcome:
    """Return the customer's upcoming bookings. The code, which gives access to a booking, is told only after a proof."""
    search = search_bookings(reference, context, project)
    shown = [(booking, is_proven(booking, search.clue)) for booking in search.found]
    rows = [(booking_data if proven else guarded_data)(booking, project) for booking, proven in shown]
    words = [booking_words(booking, project, now=context.at, with_code=proven) for booking, proven in shown]
    told = f"Found: {join_words(words)}." if words else search.told
    said = told if words else ""
    return Outcome.done(told, said=said, result={"bookings": rows, **search.result}, adapter="book")


TOOL = BuiltinTool(
    name="search_booking_tool",
    kind="booking_search",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=switched_on_by("project_attributes_setting_booking_enabled"),
    definition=define(
        "Finds a booking that the customer has already made.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to look up or find the customer's existing booking now.",
        },
    ),
    handler=Handler(
        execute=transactional_handler(BookingReference, search_booking),
        arguments=BookingReference,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
