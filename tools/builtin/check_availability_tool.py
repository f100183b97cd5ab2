"""check_availability_tool: looks up free times."""

from __future__ import annotations

from pydantic import Field

from projects.models import Project
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.clock import read_clock, read_day
from tools.services.bookings.handler_adapter import Arguments, refused
from tools.services.bookings.refusals import Closed, Past, TooFar, TooLarge
from tools.services.bookings.search import describe_result, new_search
from tools.services.calendar.availability import CalendarView, calendar_aware_handler

WAIT_SECONDS = 30
# Refusals that answer the question, with alternatives.
ANSWERS = (Closed, Past, TooFar, TooLarge)


class AvailabilityArguments(Arguments):
    """The day, time and party size to check."""

    date: str | None = Field(None, description="The local day that is asked for, as an ISO date like 2026-11-27.")
    time: str | None = Field(
        None, description="The local time that is asked for, in 24 hours like 19:00; null when no time was named."
    )
    party_size: int | None = Field(None, ge=1, le=1000, description="How many people come; null when nobody said.")
    with_whom: str | None = Field(
        None,
        description="The person or room that the customer asked for by name, like Dr. Weber; null when none was named.",
    )


def check_availability(
    project: Project, arguments: AvailabilityArguments, context: ToolContext, view: CalendarView
) -> Outcome:
    """Return whether the time is free, and free times near it. Times taken in the business's own calendar are excluded;
    a day on which the business is closed is not free.
    """
    if arguments.date is None:
        return refused("The day isn't known, so nothing was looked up. Ask for which day it should be.")
    day, clock = read_day(arguments.date), read_clock(arguments.time) if arguments.time else None
    request = BookingRequest(party_size=arguments.party_size, name=arguments.with_whom or "")
    try:
        search = new_search(project, request, now=context.at, busy=view.busy)
        found = search.on(day, clock)
    except ANSWERS as answer:
        # The promised check was made; this is its result.
        nothing = {"date": day.isoformat(), "time": arguments.time, "party_size": arguments.party_size, "free": False}
        return Outcome.done(answer.message, result=nothing, adapter="book")
    result = {
        "date": found.day.isoformat(),
        "time": f"{found.requested:%H:%M}" if found.requested else None,
        "party_size": arguments.party_size,
        "free": found.is_free,
        "near": [f"{moment:%Y-%m-%dT%H:%M}" for moment in (*found.near, *found.later)],
    }
    told = describe_result(found, today=search.today)
    return Outcome.done(told, said=told, result=result, adapter="book")


TOOL = BuiltinTool(
    name="check_availability_tool",
    kind="availability",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=switched_on_by("project_attributes_setting_booking_check_availability_enabled"),
    definition=define(
        "Looks up in the booking book whether a table, slot or appointment is free at a day and time.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check or look up whether a day, time or table is available now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="availability",
    ),
    handler=Handler(
        execute=calendar_aware_handler(AvailabilityArguments, check_availability),
        arguments=AvailabilityArguments,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
