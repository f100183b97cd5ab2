"""search_booking_tool: finds a standing booking (N23)."""

from __future__ import annotations

from projects.models import Project
from tools.book.desk import at_desk
from tools.book.finding import standing_bookings
from tools.book.telling import booking_data, booking_words
from tools.book.verified import verified
from tools.book.which import NOT_FOUND, WhichBooking, clue_of
from tools.book.wording import listed
from tools.builtin.base import BuiltinTool, Delivery, define, switched_on_by
from tools.execution.handler import Handler, Occasion
from tools.execution.outcome import Outcome

WAIT_SECONDS = 30


def search_booking(project: Project, asked: WhichBooking, occasion: Occasion) -> Outcome:
    """The customer's bookings to come."""
    found = standing_bookings(project, clue_of(asked, occasion, project), now=occasion.at)
    result = {"bookings": [booking_data(booking, project) for booking in found]}
    words = listed([booking_words(booking, project, now=occasion.at) for booking in found])
    return Outcome.done(f"Found: {words}." if found else NOT_FOUND, result=result, adapter="book")


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
    handler=Handler(
        carry_out=at_desk(WhichBooking, verified(search_booking)),
        arguments=WhichBooking,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
