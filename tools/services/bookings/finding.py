"""Booking lookups: by customers, limited to what they may know, and by staff."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from uuid import UUID

from django.db.models import Q, QuerySet

from projects.common.phones import normalize_phone
from projects.models import Project
from tools.engine.words import plain_words
from tools.models import Booking, BookingState
from tools.services.bookings.codes import normal_code
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of

SHOWN = 5


@dataclass(frozen=True)
class BookingLookup:
    """Details that a customer gives of a booking, and the customer's identity.

    `proven_phone` is a number that is certainly the customer's: the channel reports it, or they have been verified. With
    `is_own_only`, no detail finds a booking of others, and of those under the number only the ones with a word of the
    name, because families share numbers.
    """

    persona_id: UUID | None = None
    code: str = ""
    phone: str = ""
    name: str = ""
    day: date | None = None
    proven_phone: str = ""
    is_own_only: bool = False


def bookings_of(project: Project) -> QuerySet[Booking]:
    return Booking.objects.filter(project_id=project.pk).select_related("resource")


def find_upcoming_bookings(project: Project, clue: BookingLookup, *, now: datetime) -> list[Booking]:
    """Return up to five upcoming bookings that a customer with these details may know, soonest first.

    A code finds its booking. Without one, the result is the customer's own bookings, and those under a phone number
    together with the whole surname: many people know a number, so the number alone must not reveal bookings.
    """
    rows = bookings_of(project).filter(state=BookingState.CONFIRMED, ends_at__gt=now)
    own = _own_bookings(clue)
    if clue.is_own_only:
        rows = rows.filter(own)
    if code := normal_code(clue.code):
        return list(rows.filter(code=code)[:1])
    if clue.day:
        rows = on_day(rows, project, clue.day)
    phone = normalize_phone(clue.phone, region=config_of(project).region) if clue.phone and clue.name else ""
    known = rows.filter(own | Q(phone=phone) if phone else own).order_by("starts_at")
    return list(islice((one for one in known if _may_know(one, clue)), SHOWN))


def is_proven(booking: Booking, clue: BookingLookup) -> bool:
    """True if the customer has proved that the booking is theirs: by its code, or because it is certainly their own."""
    return booking.code == normal_code(clue.code) or is_own(booking, clue)


def is_own(booking: Booking, clue: BookingLookup) -> bool:
    """True for a booking that the customer made in our channels, or one under a number that is certainly theirs."""
    return _is_made_by(booking, clue) or (bool(clue.proven_phone) and booking.phone == clue.proven_phone)


def has_surname(said: str, *, of: str) -> bool:
    """True if the words of a said name include the last word of a booking's name, without regard to accents."""
    words = plain_words(of)
    return bool(words) and words[-1] in plain_words(said)


def _may_know(booking: Booking, clue: BookingLookup) -> bool:
    if _is_made_by(booking, clue) or has_surname(clue.name, of=booking.name):
        return True
    has_word = not clue.is_own_only or not set(plain_words(clue.name)).isdisjoint(plain_words(booking.name))
    return is_own(booking, clue) and has_word


def _is_made_by(booking: Booking, clue: BookingLookup) -> bool:
    return clue.persona_id is not None and booking.persona_id == clue.persona_id


def _own_bookings(clue: BookingLookup) -> Q:
    """The filter of `is_own`."""
    own = Q(persona_id=clue.persona_id) if clue.persona_id else Q(pk__in=[])
    return own | Q(phone=clue.proven_phone) if clue.proven_phone else own


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
