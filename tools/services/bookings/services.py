"""Changes to the book. Each is one transaction, and promises that nothing is booked twice.

**Why a row lock on the resource.** Whether a time is free and the booking that takes it must be one step, or two guests are
told that the same table is theirs. Whoever writes a booking first locks the resource that it goes to, and looks again: the
look is a statement of its own, so under READ COMMITTED it sees everything that was committed before the lock was given.
Bookings of other resources go on side by side. An exclusion constraint would need the extension btree_gist, which a hosted
database may not have, and it could only refuse afterwards, where the lock lets us take the next table. Locks are taken
smallest resource first by everyone, so that two bookings never wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from projects.common.phones import normalize_phone
from projects.models import Project
from tools.models import Booking, BookingKind, BookingState, Resource, ResourceKind
from tools.services.bookings.booking_request import Wish
from tools.services.bookings.codes import new_code
from tools.services.bookings.day_schedule import meets_any, span_of, standing
from tools.services.bookings.opening import Span
from tools.services.bookings.refusals import BookingOver, Unbookable
from tools.services.bookings.search import Search, config_of, new_search
from tools.services.calendar.event_sync import follow

# How often another code is tried when one is taken already: once in a hundred million.
CODES_TRIED = 5


@dataclass(frozen=True)
class Guest:
    """Who a booking is for."""

    name: str = ""
    phone: str = ""
    email: str = ""


@dataclass(frozen=True)
class Cause:
    """Where a booking comes from; all None for staff and the API."""

    effect_id: UUID | None = None
    conversation_id: UUID | None = None
    persona_id: UUID | None = None


@dataclass(frozen=True)
class FreeSlot:
    """A resource, locked until the end of the transaction, and the span in which it is free."""

    resource: Resource
    span: Span


def book(
    project: Project,
    wish: Wish,
    *,
    starts_at: datetime,
    guest: Guest,
    now: datetime,
    cause: Cause | None = None,
    title: str = "",
    notes: str = "",
    busy: Sequence[Span] = (),
) -> Booking:
    """Book the smallest resource that fits and is free, in the running transaction; `busy` is when the business's own
    calendar was just seen to be taken. A connected calendar follows.

    Done again for the same effect it answers with the booking that was made then. Raises Unbookable: Past, Closed, TooLarge,
    Taken … each with what is possible. Of two at once for the last table one gets it and the other Taken.
    """
    cause = cause or Cause()
    if made := _made_by(cause):
        return made
    try:
        place = _take_place(new_search(project, wish, now=now, busy=busy), starts_at)
    except Unbookable:
        # It may be taken by another attempt at the same effect, which was slower to die than expected.
        if made := _made_by(cause):
            return made
        raise
    booking = Booking(
        project_id=project.pk,
        effect_id=cause.effect_id,
        conversation_id=cause.conversation_id,
        persona_id=cause.persona_id,
        kind=wish.kind,
        party_size=wish.places,
        title=title[:200],
        name=guest.name[:200],
        phone=normalize_phone(guest.phone, region=config_of(project).region)[:40],
        email=guest.email[:254],
        notes=notes[:2000],
    )
    _put(booking, place)
    return _save_with_code(booking, cause)


def move(
    booking: Booking,
    project: Project,
    *,
    starts_at: datetime,
    party_size: int,
    now: datetime,
    resource_id: UUID | None = None,
    place: ResourceKind | None = None,
    busy: Sequence[Span] = (),
) -> Booking:
    """Give a booking another time, or another number of people, in the running transaction. Its code stays; `busy` as in `book`,
    `resource_id` and `place` as in a `Wish`.

    Raises Over when it is cancelled or has begun, and what `book` raises.
    """
    moved = _lock_to_change(booking, now=now)
    wish = Wish(party_size=party_size, kind=BookingKind(moved.kind), resource_id=resource_id, place=place)
    search = new_search(project, wish, now=now, without=moved.pk, busy=busy)
    _put(moved, _take_place(search, starts_at))
    moved.party_size = party_size
    moved.save(update_fields=["resource", "starts_at", "ends_at", "party_size"])
    follow(moved)
    return moved


def who_is_met(booking: Booking) -> UUID | None:
    """The person whom a booking is with: it is moved to a time of theirs. A table may be another one, and a room another room."""
    return booking.resource_id if booking.resource.kind == ResourceKind.PERSON else None


def where_it_is(booking: Booking) -> ResourceKind:
    """The kind of place that a booking is at, and stays at when it is moved."""
    return ResourceKind(booking.resource.kind)


def cancel(booking: Booking, *, by: str, now: datetime, effect_id: UUID | None = None) -> Booking:
    """Cancel a booking, in the running transaction; `by` is customer, staff or agent. Once cancelled it stays so.

    Raises Over when it has begun. Of two at once the first is kept as who cancelled.
    """
    locked = _locked(booking)
    if locked.state == BookingState.CANCELLED:
        return locked
    if locked.starts_at <= now:
        raise BookingOver("The booking has begun already, so it can't be cancelled.")
    locked.state, locked.cancelled_by, locked.cancelled_at = BookingState.CANCELLED, by, timezone.now()
    locked.cancel_effect_id = effect_id
    locked.save(update_fields=["state", "cancelled_by", "cancelled_at", "cancel_effect_id"])
    follow(locked)
    return locked


def _take_place(search: Search, starts_at: datetime) -> FreeSlot:
    """The first resource that is free, locked. Raises Unbookable."""
    found = search.at(starts_at)
    if found.resource is None:
        raise search.taken(found)
    for resource in search.resources:
        # What looked free is locked, and looked at again: see above.
        place = FreeSlot(resource, span_of(resource, starts_at))
        is_open = search.opening.is_open_for(place.span) and not meets_any(place.span, search.busy)
        if is_open and _lock_if_free(place, without=search.without):
            return place
    raise search.taken(search.at(starts_at))


def _lock_if_free(place: FreeSlot, *, without: UUID | None) -> bool:
    if _is_taken(place, without=without):
        return False
    locked = Resource.objects.select_for_update(no_key=True).filter(pk=place.resource.pk, is_active=True)
    return locked.first() is not None and not _is_taken(place, without=without)


def _is_taken(place: FreeSlot, *, without: UUID | None) -> bool:
    rows = standing(place.span.starts_at, place.span.ends_at, without=without)
    return rows.filter(resource=place.resource).exists()


def _lock_to_change(booking: Booking, *, now: datetime) -> Booking:
    locked = _locked(booking)
    if locked.state != BookingState.CONFIRMED:
        raise BookingOver("The booking is cancelled, so it can't be changed. A new one can be made.")
    if locked.starts_at <= now:
        raise BookingOver("The booking has begun already, so it can't be changed.")
    return locked


def _locked(booking: Booking) -> Booking:
    """The booking as it stands now, and stays until the end of the transaction."""
    # Without a join: after a wait PostgreSQL compares the new row with the old resource, and would find nothing.
    return Booking.objects.select_for_update(no_key=True).get(pk=booking.pk)


def _put(booking: Booking, place: FreeSlot) -> None:
    booking.resource = place.resource
    booking.starts_at, booking.ends_at = place.span.starts_at, place.span.ends_at


def _save_with_code(booking: Booking, cause: Cause) -> Booking:
    for _ in range(CODES_TRIED):
        booking.code = new_code()
        try:
            with transaction.atomic():
                booking.save(force_insert=True)
        except IntegrityError:
            # The code is taken, or another attempt at the same effect was quicker.
            if made := _made_by(cause):
                return made
        else:
            follow(booking)
            return booking
    raise RuntimeError("No free code was found; the book is full of them.")


def _made_by(cause: Cause) -> Booking | None:
    """The booking that an earlier attempt at the same effect made."""
    if cause.effect_id is None:
        return None
    return Booking.objects.select_related("resource").filter(effect_id=cause.effect_id).first()
