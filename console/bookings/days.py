"""The day picker: a strip of fourteen days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from console.timestamps import long_day, short_month, short_weekday
from tools.services.bookings.opening import Opening

BEFORE, SHOWN = 3, 14


@dataclass(frozen=True)
class Day:
    day: date
    iso: str
    weekday: str
    number: int
    month: str
    words: str
    is_chosen: bool
    is_closed: bool
    is_today: bool


@dataclass(frozen=True)
class Days:
    """The strip, with the ISO dates of its earlier and later pages."""

    days: list[Day]
    earlier: str
    later: str


def days_around(chosen: date, *, opening: Opening, today: date, is_past_shown: bool = False) -> Days:
    """The strip around the chosen day; it starts no earlier than today unless `is_past_shown`."""
    first = chosen - timedelta(days=BEFORE)
    if not is_past_shown:
        first = max(first, today)
    shown = [first + timedelta(days=number) for number in range(SHOWN)]
    earlier = chosen - timedelta(days=SHOWN)
    return Days(
        days=[_day(day, chosen=chosen, opening=opening, today=today) for day in shown],
        earlier=earlier.isoformat() if is_past_shown else max(earlier, today).isoformat() if first > today else "",
        later=(chosen + timedelta(days=SHOWN)).isoformat(),
    )


def _day(day: date, *, chosen: date, opening: Opening, today: date) -> Day:
    return Day(
        day=day,
        iso=day.isoformat(),
        weekday=short_weekday(day),
        number=day.day,
        month=short_month(day),
        words=long_day(day),
        is_chosen=day == chosen,
        is_closed=opening.is_closed_on(day),
        is_today=day == today,
    )
