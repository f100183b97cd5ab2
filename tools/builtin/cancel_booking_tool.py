"""cancel_booking_tool: cancels a booking."""

from __future__ import annotations

from projects.models import Project
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Booking
from tools.services.bookings.booking_reference import NEEDS_PROOF, BookingReference, search_bookings
from tools.services.bookings.date_words import join_words
from tools.services.bookings.finding import cancelled_by_effect
from tools.services.bookings.formatting import booking_data, booking_words
from tools.services.bookings.handler_adapter import refused, transactional_handler
from tools.services.bookings.services import cancel

WAIT_SECONDS = 30


def cancel_booking(project: Project, reference: BookingReference, context: ToolContext) -> Outcome:
    """Cancel the booking, once per effect. If several match, none is guessed; the agent asks.

    The customer must prove that the booking is theirs. A number and a name are no proof, because others may know them.
    """
    if done := cancelled_by_effect(project, context.effect_id):
        return _cancelled(done, project, context)
    search = search_bookings(reference, context, project)
    if not search.found:
        return refused(f"Nothing was cancelled. {search.told}", result=search.result)
    if not (found := search.proven):
        return refused(f"Nothing was cancelled. {NEEDS_PROOF}")
    if len(found) > 1:
        words = join_words([booking_words(booking, project, now=context.at) for booking in found])
        return refused(f"Nothing was cancelled, because there are {len(found)}: {words}. Ask which one it is.")
    return _cancelled(cancel(found[0], by="agent", now=context.at, effect_id=context.effect_id), project, context)


def _cancelled(booking: Booking, project: Project, context: ToolContext) -> Outcome:
    words = booking_words(booking, project, now=context.at)
    told = f"Cancelled: {words}."
    return Outcome.done(told, said=told, result={"booking": booking_data(booking, project)}, adapter="book")


TOOL = BuiltinTool(
    name="cancel_booking_tool",
    kind="booking_cancel",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=True,
    gate=switched_on_by("project_attributes_setting_booking_cancellation_enabled"),
    definition=define(
        "Cancels a booking that the customer has already made.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to cancel the customer's existing booking now.",
            "customerAsked": "The customer asked for the cancellation.",
        },
        history=True,
    ),
    handler=Handler(
        execute=transactional_handler(BookingReference, cancel_booking),
        arguments=BookingReference,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
