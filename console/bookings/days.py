"""Days to choose from, as a strip on a page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from tools.services.bookings.opening import Opening

BEFORE, SHOWN = 3, 14


@dataclass(frozen=True)
class Day:
    """One day of the strip."""

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
    """Two weeks around the chosen day, and where the strip goes on."""

    days: list[Day]
    earlier: str
    later: str


def days_around(chosen: date, *, opening: Opening, today: date, is_past_shown: bool = False) -> Days:
    """Fourteen days that hold the chosen one; none before today where the past is of no use."""
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
        weekday=f"{day:%a}",
        number=day.day,
        month=f"{day:%b}",
        words=f"{day:%A} {day.day} {day:%B}",
        is_chosen=day == chosen,
        is_closed=opening.is_closed_on(day),
        is_today=day == today,
    )
