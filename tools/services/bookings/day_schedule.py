"""Schedules of one or more days: taken spans, loaded with one query, and the free times between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from tools.models import Booking, BookingState, Resource
from tools.services.bookings.opening import Opening, Span

# Grid of the offered times, counted from opening. A guest may request any minute.
STEP = timedelta(minutes=15)


@dataclass(frozen=True)
class DaySchedule:
    """Taken spans per resource over some days. Times before `now` are past. `busy` blocks every resource."""

    opening: Opening
    resources: Sequence[Resource]
    now: datetime
    taken: Mapping[UUID, Sequence[Span]]
    busy: Sequence[Span] = ()

    def free_at(self, starts_at: datetime) -> Resource | None:
        """Return the first resource that is open and free for a full slot from a moment on."""
        return next((resource for resource in self.resources if self._is_free(resource, starts_at)), None)

    def free_starts(self, day: date) -> list[datetime]:
        """Return the grid times of a day at which a resource is free, in UTC and in order."""
        return [moment for moment in self._grid(day) if moment >= self.now and self.free_at(moment)]

    def _grid(self, day: date) -> Iterator[datetime]:
        day_span = self.opening.day_span(day)
        for span in self.opening.spans_around(day):
            moment = span.starts_at
            while moment < min(span.ends_at, day_span.ends_at):
                if moment >= day_span.starts_at:
                    yield moment
                moment += STEP

    def _is_free(self, resource: Resource, starts_at: datetime) -> bool:
        wanted = slot_span(resource, starts_at)
        is_taken = any(wanted.overlaps(span) for span in self.taken.get(resource.pk, ()))
        return not is_taken and not overlaps_any(wanted, self.busy) and self.opening.is_open_for(wanted)


def load_day_schedule(
    opening: Opening,
    resources: Sequence[Resource],
    *,
    first: date,
    last: date,
    now: datetime,
    excluding: UUID | None,
    busy: Sequence[Span],
) -> DaySchedule:
    """Load the schedule from `first` to `last`, with one query. The booking `excluding` is ignored, because it is being
    moved; `busy` is when the business's own calendar is taken.
    """
    starts, ends = opening.day_span(first).starts_at, opening.day_span(last + timedelta(days=1)).ends_at
    rows = confirmed_bookings(starts, ends, excluding=excluding).filter(resource__in=resources)
    taken: dict[UUID, list[Span]] = defaultdict(list)
    for resource_id, starts_at, ends_at in rows.values_list("resource_id", "starts_at", "ends_at"):
        taken[resource_id].append(Span(starts_at, ends_at))
    return DaySchedule(opening=opening, resources=resources, now=now, taken=taken, busy=busy)


def overlaps_any(wanted: Span, spans: Sequence[Span]) -> bool:
    """Return True if a span overlaps any of the others."""
    return any(wanted.overlaps(span) for span in spans)


def confirmed_bookings(starts_at: datetime, ends_at: datetime, *, excluding: UUID | None) -> QuerySet[Booking]:
    """Return the confirmed bookings that overlap a span."""
    rows = Booking.objects.filter(state=BookingState.CONFIRMED, starts_at__lt=ends_at, ends_at__gt=starts_at)
    return rows.exclude(pk=excluding) if excluding else rows


def slot_span(resource: Resource, starts_at: datetime) -> Span:
    """Return the slot that a booking from `starts_at` occupies."""
    return Span(starts_at, starts_at + timedelta(minutes=resource.slot_minutes))
