"""Booking for a customer, as a tool does it: from what was said to a booking, and the sentence about it."""

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
from tools.services.bookings.booking_request import Wish, fitting
from tools.services.bookings.clock import read_clock, read_day
from tools.services.bookings.formatting import booking_data, booking_words
from tools.services.bookings.handler_adapter import Arguments
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.refusals import Unbookable
from tools.services.bookings.search import config_of, new_search
from tools.services.bookings.services import Cause, Guest, book

DONE = {BookingKind.BOOKING: "Booked", BookingKind.MEETING: "The meeting is in the book"}


class Agreed(Arguments):
    """What the agent and the customer agreed on."""

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
    """What was given as the phone number is none."""

    code = "invalid_phone"

    def __init__(self, refusal: InvalidPhone, *, region: str) -> None:
        way = f"Ask for it again, with its country, like {example_phone(region)}; then book."
        super().__init__(f"Nothing was booked: {refusal} {way}", field="phone")


def reserve(
    project: Project,
    agreed: Agreed,
    context: ToolContext,
    *,
    kind: BookingKind,
    busy: Sequence[Span] = (),
    title: str = "",
) -> Outcome:
    """Book what was agreed, once per effect, where the business's own calendar isn't `busy`. Raises Unbookable or NoTime."""
    if agreed.date is None or agreed.time is None:
        raise TimeUnknown
    wish = Wish(party_size=agreed.party_size, kind=kind, name=agreed.with_whom or "")
    if agreed.party_size is None and fitting(project, wish)[0].kind != ResourceKind.PERSON:
        raise SizeUnknown
    booking = book(
        project,
        wish,
        starts_at=local_moment(
            project, wish, day=read_day(agreed.date), clock=read_clock(agreed.time), now=context.at, busy=busy
        ),
        guest=_guest(agreed, context, region=config_of(project).region),
        now=context.at,
        cause=_cause(context),
        title=title,
        notes=agreed.notes or "",
        busy=busy,
    )
    result = {"booking": booking_data(booking, project)}
    return Outcome.done(_told(booking, project, context), result=result, adapter="book")


def same_reservation(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """The same time for the same people is the same booking, whatever else was said."""
    return " ".join(str(arguments.get(part)) for part in ("date", "time", "party_size", "with_whom"))


def local_moment(
    project: Project, wish: Wish, *, day: date, clock: time, now: datetime, busy: Sequence[Span] = ()
) -> datetime:
    """The moment of a local day and time. Raises Closed, with what is free, for one that the clocks skip."""
    moment = Opening(config_of(project)).moment(datetime.combine(day, clock))
    if moment is None:
        new_search(project, wish, now=now, busy=busy).on(day, clock)
        raise LookupError("The search refuses every time that the clocks skip.")
    return moment


def _cause(context: ToolContext) -> Cause:
    return Cause(
        effect_id=context.effect_id,
        conversation_id=context.conversation_id,
        persona_id=context.contact.persona_id if context.contact else None,
    )


def _guest(agreed: Agreed, context: ToolContext, *, region: str) -> Guest:
    """What was said, filled up with what is known of the customer. Raises PhoneUnknown for words that are no number."""
    contact = context.contact
    try:
        said = read_phone(agreed.phone, region=region) if agreed.phone else ""
    except InvalidPhone as refusal:
        raise PhoneUnknown(refusal, region=region) from refusal
    return Guest(
        name=agreed.name or (contact.name if contact else ""),
        phone=said or (contact.phone if contact else ""),
        email=agreed.email or (contact.email if contact else ""),
    )


def _told(booking: Booking, project: Project, context: ToolContext) -> str:
    words = booking_words(booking, project, now=context.at)
    if booking.state == BookingState.CANCELLED:
        return f"It was booked and has been cancelled since: {words}."
    return f"{DONE[BookingKind(booking.kind)]}: {words}."
