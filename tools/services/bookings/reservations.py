"""Reservations made by tools: from the agreed details to a booking, and its confirmation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from pydantic import Field

from projects.common.phones import InvalidPhone, example_phone, read_phone
from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Booking, BookingKind, BookingState, ResourceKind
from tools.services.bookings.booking_request import BookingRequest, matching_resources
from tools.services.bookings.clock import read_clock, read_day
from tools.services.bookings.formatting import booking_data, booking_words
from tools.services.bookings.handler_adapter import Arguments
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.refusals import Unbookable
from tools.services.bookings.search import config_of, new_search
from tools.services.bookings.services import Cause, Guest, book

DONE = {BookingKind.BOOKING: "Booked", BookingKind.MEETING: "The meeting is in the book"}


class ReservationArguments(Arguments):
    """Details that the agent and the customer agreed on."""

    date: str | None = Field(None, description="The local day that was agreed, as an ISO date like 2026-11-27.")
    time: str | None = Field(None, description="The local time that was agreed, in 24 hours like 19:00.")
    party_size: int | None = Field(None, ge=1, le=1000, description="How many people come; null when nobody said.")
    with_whom: str | None = Field(
        None,
        description="The person or room that the customer asked for by name, like Dr. Weber; null when none was named.",
    )
    name: str | None = Field(None, description="The customer's name; null when nobody said.")
    phone: str | None = Field(None, description="The customer's phone number, as they said it; null when nobody said.")
    email: str | None = Field(None, description="The customer's e-mail address; null when nobody said.")
    notes: str | None = Field(
        None,
        description="Wishes, diets or allergies that the customer named, in a few words; null when there are none.",
    )


class TimeUnknown(Unbookable):
    """Nothing was booked, because the day or the time isn't known. Ask for both, then book."""

    code = "time_unknown"

    def __init__(self) -> None:
        super().__init__(type(self).__doc__ or "", field="time")


class SizeUnknown(Unbookable):
    """Nothing was booked, because nobody said how many people come. Ask, then book."""

    code = "party_size_unknown"

    def __init__(self) -> None:
        super().__init__(type(self).__doc__ or "", field="party_size")


class PhoneUnknown(Unbookable):
    """The given phone number is invalid."""

    code = "invalid_phone"

    def __init__(self, refusal: InvalidPhone, *, region: str) -> None:
        way = f"Ask for it again, with its country, like {example_phone(region)}; then book."
        super().__init__(f"Nothing was booked: {refusal} {way}", field="phone")


def reserve(
    project: Project,
    details: ReservationArguments,
    context: ToolContext,
    *,
    kind: BookingKind,
    busy: Sequence[Span] = (),
    title: str = "",
) -> Outcome:
    """Book the agreed time, once per effect, unless the business's own calendar is `busy`. Raises Unbookable or InvalidTime."""
    if details.date is None or details.time is None:
        raise TimeUnknown
    request = BookingRequest(party_size=details.party_size, kind=kind, name=details.with_whom or "")
    if details.party_size is None and matching_resources(project, request)[0].kind != ResourceKind.PERSON:
        raise SizeUnknown
    booking = book(
        project,
        request,
        starts_at=local_moment(
            project, request, day=read_day(details.date), clock=read_clock(details.time), now=context.at, busy=busy
        ),
        guest=_guest(details, context, region=config_of(project).region),
        now=context.at,
        cause=_cause(context),
        title=title,
        notes=details.notes or "",
        busy=busy,
    )
    result = {"booking": booking_data(booking, project)}
    told = _confirmation(booking, project, context)
    return Outcome.done(told, said=told, result=result, adapter="book")


def reservation_repeat(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """Identify a reservation by its time and people; other details do not matter."""
    return " ".join(str(arguments.get(part)) for part in ("date", "time", "party_size", "with_whom"))


def local_moment(
    project: Project, request: BookingRequest, *, day: date, clock: time, now: datetime, busy: Sequence[Span]
) -> datetime:
    """Convert a local day and time to UTC. Raises Closed, with free alternatives, if the clocks skip it."""
    moment = Opening(config_of(project)).moment(datetime.combine(day, clock))
    if moment is None:
        new_search(project, request, now=now, busy=busy).on(day, clock)
        raise LookupError("The search refuses every time that the clocks skip.")
    return moment


def _cause(context: ToolContext) -> Cause:
    return Cause(
        effect_id=context.effect_id,
        conversation_id=context.conversation_id,
        persona_id=context.contact.persona_id if context.contact else None,
    )


def _guest(details: ReservationArguments, context: ToolContext, *, region: str) -> Guest:
    """Return the guest from the agreed details, completed with the contact. Raises PhoneUnknown."""
    contact = context.contact
    try:
        said = read_phone(details.phone, region=region) if details.phone else ""
    except InvalidPhone as refusal:
        raise PhoneUnknown(refusal, region=region) from refusal
    return Guest(
        name=details.name or (contact.name if contact else ""),
        phone=said or (contact.phone if contact else ""),
        email=details.email or (contact.email if contact else ""),
    )


def _confirmation(booking: Booking, project: Project, context: ToolContext) -> str:
    words = booking_words(booking, project, now=context.at)
    if booking.state == BookingState.CANCELLED:
        return f"It was booked and has been cancelled since: {words}."
    return f"{DONE[BookingKind(booking.kind)]}: {words}."
