"""Strict ISO 8601 parsing of dates and times given by models and API clients."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TypeVar

from tools.services.bookings.refusals import InvalidTime

D = TypeVar("D", bound=date)


# Time zone arithmetic may overflow outside these years.
FIRST_YEAR, LAST_YEAR = 1970, 2200


def read_day(text: str) -> date:
    """Parse 2026-11-27, or the date of 2026-11-27T19:00. Raises InvalidTime."""
    try:
        return _in_calendar(date.fromisoformat(text.strip().partition("T")[0]))
    except ValueError as error:
        raise InvalidTime(f"“{text[:40]}” is no date; a date is written like 2026-11-27.") from error


def read_clock(text: str) -> time:
    """Parse 19:00, or the time of 2026-11-27T19:00. Offsets are ignored because all times are local. Raises InvalidTime."""
    try:
        clock = time.fromisoformat(text.strip().rpartition("T")[2])
    except ValueError as error:
        raise InvalidTime(f"“{text[:40]}” is no time; a time is written like 19:00.") from error
    return clock.replace(second=0, microsecond=0, tzinfo=None)


def read_moment(text: str) -> datetime:
    """Parse 2026-11-27T19:00; naive if it has no offset. Raises InvalidTime."""
    try:
        return _in_calendar(datetime.fromisoformat(text.strip()))
    except ValueError as error:
        raise InvalidTime(f"“{text[:40]}” is no date and time; write one like 2026-11-27T19:00.") from error


def _in_calendar(day: D) -> D:
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(day.year)
    return day
