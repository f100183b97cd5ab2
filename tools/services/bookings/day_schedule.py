"""Some days of the book: what is taken, read once, and what is free beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from tools.models import Booking, BookingState, Resource
from tools.services.bookings.opening import Opening, Span

# Offered times stand on this grid, counted from the opening; a guest may ask for any minute.
STEP = timedelta(minutes=15)


@dataclass(frozen=True)
class Agenda:
    """What some resources have on some days, and the moment up to which time is past. `busy` is taken for all of them."""

    opening: Opening
    resources: Sequence[Resource]
    now: datetime
    taken: Mapping[UUID, Sequence[Span]]
    busy: Sequence[Span] = ()

    def free_at(self, starts_at: datetime) -> Resource | None:
        """The first of the resources that is free, and open, from a moment on for as long as it is booked."""
        return next((resource for resource in self.resources if self._is_free(resource, starts_at)), None)

    def starts_of(self, day: date) -> list[datetime]:
        """The moments of a day's grid at which something is free, in UTC and in order."""
        return [moment for moment in self._grid(day) if moment >= self.now and self.free_at(moment)]

    def _grid(self, day: date) -> Iterator[datetime]:
        whole = self.opening.whole(day)
        for span in self.opening.spans_around(day):
            moment = span.starts_at
            while moment < min(span.ends_at, whole.ends_at):
                if moment >= whole.starts_at:
                    yield moment
                moment += STEP

    def _is_free(self, resource: Resource, starts_at: datetime) -> bool:
        wanted = span_of(resource, starts_at)
        is_taken = any(wanted.meets(span) for span in self.taken.get(resource.pk, ()))
        return not is_taken and not meets_any(wanted, self.busy) and self.opening.is_open_for(wanted)


def read_agenda(
    opening: Opening,
    resources: Sequence[Resource],
    *,
    first: date,
    last: date,
    now: datetime,
    without: UUID | None = None,
    busy: Sequence[Span] = (),
) -> Agenda:
    """The agenda from one day to another. `without` is a booking whose place counts as free, because it moves; `busy` is when
    the business's own calendar is taken. One query.
    """
    starts, ends = opening.whole(first).starts_at, opening.whole(last + timedelta(days=1)).ends_at
    rows = standing(starts, ends, without=without).filter(resource__in=resources)
    taken: dict[UUID, list[Span]] = defaultdict(list)
    for resource_id, starts_at, ends_at in rows.values_list("resource_id", "starts_at", "ends_at"):
        taken[resource_id].append(Span(starts_at, ends_at))
    return Agenda(opening=opening, resources=resources, now=now, taken=taken, busy=busy)


def meets_any(wanted: Span, spans: Sequence[Span]) -> bool:
    """Whether a span shares a moment with any of some others."""
    return any(wanted.meets(span) for span in spans)


def standing(starts_at: datetime, ends_at: datetime, *, without: UUID | None = None) -> QuerySet[Booking]:
    """The confirmed bookings that share a moment with a span."""
    rows = Booking.objects.filter(state=BookingState.CONFIRMED, starts_at__lt=ends_at, ends_at__gt=starts_at)
    return rows.exclude(pk=without) if without else rows


def span_of(resource: Resource, starts_at: datetime) -> Span:
    """How long a booking that starts now occupies a resource."""
    return Span(starts_at, starts_at + timedelta(minutes=resource.slot_minutes))
