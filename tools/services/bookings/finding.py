"""Booking lookups: by customers, limited to what they may know, and by staff."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from projects.common.phones import normalize_phone
from projects.models import Project
from tools.models import Booking, BookingState
from tools.services.bookings.codes import normal_code
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of

SHOWN = 5
# Shortest word of a name that identifies a person.
SHORTEST_NAME = 2


@dataclass(frozen=True)
class BookingLookup:
    """Details that a customer gives of a booking, and the customer's identity."""

    persona_id: UUID | None = None
    code: str = ""
    phone: str = ""
    name: str = ""
    day: date | None = None
    # The number on file if customers may see only their own bookings; None if a code or a name is enough.
    own_phone: str | None = None


def bookings_of(project: Project) -> QuerySet[Booking]:
    return Booking.objects.filter(project_id=project.pk).select_related("resource")


def find_upcoming_bookings(project: Project, clue: BookingLookup, *, now: datetime) -> list[Booking]:
    """Return up to five upcoming bookings that a customer with these details may know, soonest first.

    A code finds its booking. Without one, the result is the customer's own bookings, and those under a phone number
    together with a word of the name: many people know a number, so the number alone must not reveal bookings.
    """
    rows = bookings_of(project).filter(state=BookingState.CONFIRMED, ends_at__gt=now)
    if clue.own_phone is not None:
        rows = rows.filter(_own_bookings(clue, project))
    if code := normal_code(clue.code):
        return list(rows.filter(code=code)[:1])
    known = Q(pk__in=[])
    if clue.persona_id:
        known |= Q(persona_id=clue.persona_id)
    if clue.phone and (word := _longest_word(clue.name)):
        known |= Q(phone=normalize_phone(clue.phone, region=config_of(project).region), name__icontains=word)
    if clue.day:
        rows = on_day(rows, project, clue.day)
    return list(rows.filter(known).order_by("starts_at")[:SHOWN])


def _own_bookings(clue: BookingLookup, project: Project) -> Q:
    """Filter for bookings that are certainly the customer's: made by them, or under their number on file."""
    own = Q(persona_id=clue.persona_id) if clue.persona_id else Q(pk__in=[])
    phone = normalize_phone(clue.own_phone, region=config_of(project).region) if clue.own_phone else ""
    return own | Q(phone=phone) if phone else own


def on_day(rows: QuerySet[Booking], project: Project, day: date) -> QuerySet[Booking]:
    """Filter bookings that start on a local day."""
    day_span = Opening(config_of(project)).day_span(day)
    return rows.filter(starts_at__gte=day_span.starts_at, starts_at__lt=day_span.ends_at)


def with_phone(rows: QuerySet[Booking], project: Project, phone: str) -> QuerySet[Booking]:
    """Filter bookings by phone number, in any notation."""
    return rows.filter(phone=normalize_phone(phone, region=config_of(project).region))


def cancelled_by_effect(project: Project, effect_id: UUID) -> Booking | None:
    """Return the booking that an earlier attempt at the effect canceled."""
    return bookings_of(project).filter(cancel_effect_id=effect_id).first()


def _longest_word(name: str) -> str:
    word = max(name.split(), key=len, default="")
    return word if len(word) >= SHORTEST_NAME else ""
