"""Finding bookings: those of a customer who may know them, and those that staff looks for."""

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
# A word of a name has to have so many letters to stand for its person.
SHORTEST_NAME = 2


@dataclass(frozen=True)
class Clue:
    """What a customer says of their booking, and who they are."""

    persona_id: UUID | None = None
    code: str = ""
    phone: str = ""
    name: str = ""
    day: date | None = None
    # The number on file where nobody is told of what isn't their own; None where a code or a name opens a booking (D14).
    own_phone: str | None = None


def bookings_of(project: Project) -> QuerySet[Booking]:
    return Booking.objects.filter(project_id=project.pk).select_related("resource")


def standing_bookings(project: Project, clue: Clue, *, now: datetime) -> list[Booking]:
    """The bookings to come that whoever gives this clue may know, the soonest first, up to five.

    A code opens its booking. Without one these are the customer's own, and those under a phone number together with a word
    of the name: a number alone is known to many, and would show their bookings to anyone who has it.
    """
    rows = bookings_of(project).filter(state=BookingState.CONFIRMED, ends_at__gt=now)
    if clue.own_phone is not None:
        rows = rows.filter(_own(clue, project))
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


def _own(clue: Clue, project: Project) -> Q:
    """What is the customer's own beyond doubt: made by them, or under the number on file."""
    own = Q(persona_id=clue.persona_id) if clue.persona_id else Q(pk__in=[])
    phone = normalize_phone(clue.own_phone, region=config_of(project).region) if clue.own_phone else ""
    return own | Q(phone=phone) if phone else own


def on_day(rows: QuerySet[Booking], project: Project, day: date) -> QuerySet[Booking]:
    """The bookings that start on a local day."""
    whole = Opening(config_of(project)).whole(day)
    return rows.filter(starts_at__gte=whole.starts_at, starts_at__lt=whole.ends_at)


def with_phone(rows: QuerySet[Booking], project: Project, phone: str) -> QuerySet[Booking]:
    """The bookings under a phone number, however it is written."""
    return rows.filter(phone=normalize_phone(phone, region=config_of(project).region))


def cancelled_by_effect(project: Project, effect_id: UUID) -> Booking | None:
    """The booking that an earlier attempt at an effect cancelled."""
    return bookings_of(project).filter(cancel_effect_id=effect_id).first()


def _longest_word(name: str) -> str:
    word = max(name.split(), key=len, default="")
    return word if len(word) >= SHORTEST_NAME else ""
