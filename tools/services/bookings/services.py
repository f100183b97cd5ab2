"""Booking changes. Each runs in one transaction, and no slot is booked twice.

**Why a row lock on the resource.** The check that a slot is free and the booking that takes it must be one step. A
writer locks the resource and then checks again: under READ COMMITTED, that second statement sees everything that was
committed before the lock was granted. Bookings of other resources proceed in parallel. An exclusion constraint would
need the extension btree_gist, which a hosted database may not have, and could only reject the booking afterwards,
whereas the lock lets us try the next table. Every writer locks the smallest resource first, so two bookings never
deadlock.
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
from tools.engine.hooks import lock_customer
from tools.models import Booking, BookingKind, BookingState, Resource, ResourceKind
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.codes import new_code
from tools.services.bookings.day_schedule import confirmed_bookings, overlaps_any, slot_span
from tools.services.bookings.opening import Span
from tools.services.bookings.refusals import BookingOver, Unbookable
from tools.services.bookings.search import Search, config_of, new_search
from tools.services.calendar.event_sync import plan_sync

# Attempts to find a free code. A collision happens once in a hundred million.
CODES_TRIED = 5


@dataclass(frozen=True)
class Guest:
    """The person a booking is for."""

    name: str = ""
    phone: str = ""
    email: str = ""


@dataclass(frozen=True)
class Cause:
    """The origin of a booking; all None for staff and the API."""

    effect_id: UUID | None = None
    conversation_id: UUID | None = None
    persona_id: UUID | None = None


@dataclass(frozen=True)
class FreeSlot:
    """A resource, locked until the end of the transaction, and a span in which it is free."""

    resource: Resource
    span: Span


def book(
    project: Project,
    request: BookingRequest,
    *,
    starts_at: datetime,
    guest: Guest,
    now: datetime,
    cause: Cause | None = None,
    title: str = "",
    notes: str = "",
    busy: Sequence[Span] = (),
) -> Booking:
    """Book the smallest free resource that fits, in the current transaction, and plan its calendar event. `busy` is
    when the business's own calendar was just seen to be taken.

    A repeated call for the same effect returns the existing booking. Raises Unbookable (Past, Closed, TooLarge,
    SlotTaken …) with alternatives. Of two concurrent calls for the last table, one gets it and the other raises
    SlotTaken.
    """
    cause = cause or Cause()
    if made := _booking_of_effect(cause):
        return made
    try:
        slot = _lock_free_slot(new_search(project, request, now=now, busy=busy), starts_at)
    except Unbookable:
        # An earlier attempt at the same effect, assumed dead, may have taken the slot.
        if made := _booking_of_effect(cause):
            return made
        raise
    booking = Booking(
        project_id=project.pk,
        effect_id=cause.effect_id,
        conversation_id=cause.conversation_id,
        persona_id=lock_customer(cause.persona_id) if cause.persona_id else None,
        kind=request.kind,
        party_size=request.seats,
        title=title[:200],
        name=guest.name[:200],
        phone=normalize_phone(guest.phone, region=config_of(project).region)[:40],
        email=guest.email[:254],
        notes=notes[:2000],
    )
    _assign(booking, slot)
    return _save_with_code(booking, cause)


def move(
    booking: Booking,
    project: Project,
    *,
    starts_at: datetime,
    party_size: int,
    now: datetime,
    resource_id: UUID | None = None,
    resource_kind: ResourceKind | None = None,
    busy: Sequence[Span] = (),
) -> Booking:
    """Change a booking's time or party size in the current transaction. The code stays the same. `busy` is as in
    `book`; `resource_id` and `resource_kind` are as in a `BookingRequest`.

    Raises BookingOver if the booking is canceled or has begun, and the errors of `book`.
    """
    moved = _lock_to_change(booking, now=now)
    request = BookingRequest(
        party_size=party_size, kind=BookingKind(moved.kind), resource_id=resource_id, resource_kind=resource_kind
    )
    search = new_search(project, request, now=now, excluding=moved.pk, busy=busy)
    _assign(moved, _lock_free_slot(search, starts_at))
    moved.party_size = party_size
    moved.save(update_fields=["resource", "starts_at", "ends_at", "party_size"])
    plan_sync(moved)
    return moved


def person_id_of(booking: Booking) -> UUID | None:
    """Return the id of the person a booking is with, who stays the same when it is moved. Tables and rooms may change."""
    return booking.resource_id if booking.resource.kind == ResourceKind.PERSON else None


def resource_kind_of(booking: Booking) -> ResourceKind:
    """Return the resource kind of a booking, which stays the same when it is moved."""
    return ResourceKind(booking.resource.kind)


def cancel(booking: Booking, *, by: str, now: datetime, effect_id: UUID | None = None) -> Booking:
    """Cancel a booking in the current transaction; `by` is customer, staff or agent. Canceling again does nothing.

    Raises BookingOver if it has begun. Of two concurrent calls, the first one is recorded.
    """
    locked = _locked(booking)
    if locked.state == BookingState.CANCELLED:
        return locked
    if locked.starts_at <= now:
        raise BookingOver("The booking has begun already, so it can't be cancelled.")
    locked.state, locked.cancelled_by, locked.cancelled_at = BookingState.CANCELLED, by, timezone.now()
    locked.cancel_effect_id = effect_id
    locked.save(update_fields=["state", "cancelled_by", "cancelled_at", "cancel_effect_id"])
    plan_sync(locked)
    return locked


def _lock_free_slot(search: Search, starts_at: datetime) -> FreeSlot:
    """Lock the first free resource. Raises Unbookable."""
    found = search.at(starts_at)
    if found.resource is None:
        raise search.slot_taken(found)
    for resource in search.resources:
        # A resource that looked free is locked and checked again; see the module docstring.
        slot = FreeSlot(resource, slot_span(resource, starts_at))
        is_open = search.opening.is_open_for(slot.span) and not overlaps_any(slot.span, search.busy)
        if is_open and _lock_if_free(slot, excluding=search.excluding):
            return slot
    raise search.slot_taken(search.at(starts_at))


def _lock_if_free(slot: FreeSlot, *, excluding: UUID | None) -> bool:
    if _is_taken(slot, excluding=excluding):
        return False
    locked = Resource.objects.select_for_update(no_key=True).filter(pk=slot.resource.pk, is_active=True)
    return locked.first() is not None and not _is_taken(slot, excluding=excluding)


def _is_taken(slot: FreeSlot, *, excluding: UUID | None) -> bool:
    rows = confirmed_bookings(slot.span.starts_at, slot.span.ends_at, excluding=excluding)
    return rows.filter(resource=slot.resource).exists()


def _lock_to_change(booking: Booking, *, now: datetime) -> Booking:
    locked = _locked(booking)
    if locked.state != BookingState.CONFIRMED:
        raise BookingOver("The booking is cancelled, so it can't be changed. A new one can be made.")
    if locked.starts_at <= now:
        raise BookingOver("The booking has begun already, so it can't be changed.")
    return locked


def _locked(booking: Booking) -> Booking:
    """Return the current booking, locked until the end of the transaction."""
    # No join: after a wait, PostgreSQL would recheck the new row against the old resource and find nothing.
    return Booking.objects.select_for_update(no_key=True).get(pk=booking.pk)


def _assign(booking: Booking, slot: FreeSlot) -> None:
    booking.resource = slot.resource
    booking.starts_at, booking.ends_at = slot.span.starts_at, slot.span.ends_at


def _save_with_code(booking: Booking, cause: Cause) -> Booking:
    for _ in range(CODES_TRIED):
        booking.code = new_code()
        try:
            with transaction.atomic():
                booking.save(force_insert=True)
        except IntegrityError:
            # The code is taken, or another attempt at the same effect was faster.
            if made := _booking_of_effect(cause):
                return made
        else:
            plan_sync(booking)
            return booking
    raise RuntimeError("No free booking code was found.")


def _booking_of_effect(cause: Cause) -> Booking | None:
    """Return the booking that an earlier attempt at the same effect made."""
    if cause.effect_id is None:
        return None
    return Booking.objects.select_related("resource").filter(effect_id=cause.effect_id).first()
