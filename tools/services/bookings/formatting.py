"""Bookings as text for the agent, and as API payloads."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypedDict

from projects.common.presenters import Id, Stamp, stamp
from projects.models import Project
from tools.models import Booking, BookingKind, BookingState
from tools.services.bookings.booking_request import BookingRequest, describe_request
from tools.services.bookings.date_words import moment_words, with_article
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of


def booking_words(booking: Booking, project: Project, *, now: datetime, with_code: bool = True) -> str:
    """a table for 4 on Friday 27 November at 19:00, under the name Ada, code K7M2QX"""
    opening = Opening(config_of(project))
    when = moment_words(opening.local(booking.starts_at), today=opening.local(now).date())
    request = BookingRequest(party_size=booking.party_size, kind=BookingKind(booking.kind), name=booking.resource.name)
    name = f", under the name {booking.name}" if booking.name else ""
    code = f", code {booking.code}" if with_code else ""
    return f"{with_article(describe_request(request, [booking.resource]))} on {when}{name}{code}"


class BookedPayload(TypedDict):
    id: Id
    name: str


class BookingPayload(TypedDict):
    """`local` is the start in the business's local time."""

    id: Id
    code: str
    kind: Annotated[str, BookingKind]
    state: Annotated[str, BookingState]
    resource: BookedPayload
    starts_at: Stamp
    ends_at: Stamp
    local: str
    party_size: int
    title: str
    name: str
    phone: str
    email: str
    notes: str
    conversation: Id | None
    persona: Id | None
    created_at: Stamp
    cancelled_at: Stamp | None
    cancelled_by: Annotated[str | None, "customer, staff or agent"]


def booking_data(booking: Booking, project: Project) -> BookingPayload:
    """Return a booking as the API shows it."""
    local = Opening(config_of(project)).local(booking.starts_at)
    return {
        "id": str(booking.pk),
        "code": booking.code,
        "kind": booking.kind,
        "state": booking.state,
        "resource": {"id": str(booking.resource_id), "name": booking.resource.name},
        "starts_at": stamp(booking.starts_at),
        "ends_at": stamp(booking.ends_at),
        "local": f"{local:%Y-%m-%dT%H:%M}",
        "party_size": booking.party_size,
        "title": booking.title,
        "name": booking.name,
        "phone": booking.phone,
        "email": booking.email,
        "notes": booking.notes,
        "conversation": str(booking.conversation_id) if booking.conversation_id else None,
        "persona": str(booking.persona_id) if booking.persona_id else None,
        "created_at": stamp(booking.created_at),
        "cancelled_at": stamp(booking.cancelled_at),
        "cancelled_by": booking.cancelled_by or None,
    }


def guarded_data(booking: Booking, project: Project) -> BookingPayload:
    """A booking as shown to somebody who knows its number and name: without its code and the guest's details."""
    return {**booking_data(booking, project), "code": "", "phone": "", "email": "", "notes": ""}
