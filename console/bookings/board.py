"""The day board: a row per resource, a column per quarter of an hour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.translation import gettext

from tools.models import Booking, Resource
from tools.services.bookings.day_schedule import STEP
from tools.services.bookings.opening import Opening, Span

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Cell:
    """Adjacent columns of a row. `booking` is set if taken; `at` is the local time if bookable, with a label, else empty."""

    columns: int
    booking: Booking | None = None
    at: str = ""
    label: str = ""
    time: str = ""


@dataclass(frozen=True)
class Row:
    resource: Resource
    cells: list[Cell]


@dataclass(frozen=True)
class Hour:
    """An hour heading and its number of columns."""

    text: str
    columns: int


@dataclass(frozen=True)
class Board:
    hours: list[Hour]
    rows: list[Row]


@dataclass(frozen=True)
class Grid:
    """The displayed span of a day, in full hours."""

    opening: Opening
    shown: Span
    open: Sequence[Span]
    now: datetime

    @property
    def columns(self) -> int:
        return (self.shown.ends_at - self.shown.starts_at) // STEP

    def column(self, moment: datetime, *, is_end: bool = False) -> int:
        """The column of a moment, clamped to the grid; an end is rounded up."""
        steps = (moment - self.shown.starts_at) / STEP
        return max(0, min(self.columns, -int(-steps // 1) if is_end else int(steps // 1)))

    def moment(self, column: int) -> datetime:
        return self.shown.starts_at + column * STEP

    def clock(self, moment: datetime) -> str:
        return f"{self.opening.local(moment):%H:%M}"

    def hour_end(self, column: int) -> int:
        """The first column of the next full hour."""
        return column + 4 - self.opening.local(self.moment(column)).minute // 15

    def is_open(self, column: int) -> bool:
        moment = self.moment(column)
        return any(span.starts_at <= moment < span.ends_at for span in self.open)


def board_of(
    day: date, *, opening: Opening, resources: Sequence[Resource], bookings: Sequence[Booking], now: datetime
) -> Board | None:
    """The board of a day; None if it would be empty. `bookings` are the confirmed ones that touch the day."""
    whole = opening.day_span(day)
    spans = [span for span in opening.spans_around(day) if span.overlaps(whole)]
    moments = [*((span.starts_at, span.ends_at) for span in spans), *((one.starts_at, one.ends_at) for one in bookings)]
    if not moments or not resources:
        return None
    first = _hour_of(max(min(starts for starts, _ in moments), whole.starts_at), opening)
    last = min(max(ends for _, ends in moments), whole.ends_at + timedelta(hours=3))
    shown = Span(first, _hour_of(last + HOUR - timedelta(seconds=1), opening))
    grid = Grid(opening=opening, shown=shown, open=spans, now=now)
    rows = [
        Row(one, list(_cells(grid, one, [row for row in bookings if row.resource_id == one.pk]))) for one in resources
    ]
    return Board(hours=list(_hours(grid)), rows=rows)


def _cells(grid: Grid, resource: Resource, bookings: Sequence[Booking]) -> Iterator[Cell]:
    """The cells of a row from left to right; they fill it exactly."""
    column = 0
    for booking in sorted(bookings, key=lambda one: one.starts_at):
        begin = max(column, grid.column(booking.starts_at))
        yield from _gap(grid, resource, column, begin)
        column = max(begin + 1, grid.column(booking.ends_at, is_end=True))
        yield Cell(columns=column - begin, booking=booking, time=grid.clock(booking.starts_at))
    yield from _gap(grid, resource, column, grid.columns)


def _gap(grid: Grid, resource: Resource, column: int, end: int) -> Iterator[Cell]:
    """Free cells, split at full hours so that each can be clicked."""
    while column < end:
        is_open, begin = grid.is_open(column), column
        stop = min(end, grid.hour_end(column))
        while column < stop and grid.is_open(column) == is_open:
            column += 1
        moment = grid.moment(begin)
        columns = column - begin
        if is_open and moment >= grid.now:
            at = grid.clock(moment)
            label = gettext("Book %(name)s at %(at)s") % {"name": resource.name, "at": at}
            yield Cell(columns, at=at, label=label)
        else:
            yield Cell(columns, time="" if is_open else "closed")


def _hours(grid: Grid) -> Iterator[Hour]:
    column = 0
    while column < grid.columns:
        end = min(grid.hour_end(column), grid.columns)
        yield Hour(text=grid.clock(grid.moment(column)), columns=end - column)
        column = end


def _hour_of(moment: datetime, opening: Opening) -> datetime:
    """The moment rounded down to the full hour, local time."""
    local = opening.local(moment)
    return moment - timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
