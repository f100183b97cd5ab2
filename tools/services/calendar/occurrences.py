"""When one event takes place, by the clocks of a business, within a window (RFC 5545)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Component

from tools.services.bookings.opening import Span
from tools.services.calendar.recurrence import RuleNotUnderstood, read_rule

DAY = timedelta(days=1)
LONGEST_OF_SERIES = timedelta(days=60)
# What an event that makes no sense raises when it is read.
NONSENSE = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def is_free(event: Component) -> bool:
    """Whether it takes nobody's time."""
    return str(event.get("TRANSP", "")).upper() == "TRANSPARENT" or str(event.get("STATUS", "")).upper() == "CANCELLED"


def is_series(event: Component) -> bool:
    """Whether it still has to be found out when it repeats; mostly the server has done so."""
    return "RRULE" in event or "RDATE" in event


def time_of(event: Component, zone: ZoneInfo) -> Span | None:
    """When an event is, in UTC; None where it has no length. What names no zone is in the business's own."""
    starts = _date(event["DTSTART"])
    span = Span(_moment(starts, zone), _moment(_end(event, starts), zone))
    return span if span.starts_at < span.ends_at else None


def times_of_series(event: Component, window: Span, zone: ZoneInfo, *, but: Collection[datetime]) -> Iterator[Span]:
    """The times of a series around a window, but for those that its exceptions take out. Raises RuleNotUnderstood."""
    first = _date(event["DTSTART"])
    # By the clocks of the event: from eleven to five is that in each night, and a whole day is as long as the clocks make it.
    length = _end(event, first) - first
    if length > LONGEST_OF_SERIES or "RDATE" in event:
        raise RuleNotUnderstood
    left_out = {*but, *_exceptions(event, zone)}
    rule = read_rule(event["RRULE"], first=first, zone=zone)
    for day in rule.days((window.starts_at - length - DAY).date(), (window.ends_at + DAY).date()):
        begins = datetime.combine(day, first.timetz()) if isinstance(first, datetime) else day
        span = Span(_moment(begins, zone), _moment(begins + length, zone))
        if span.starts_at not in left_out and span.starts_at < span.ends_at:
            yield span


def replaced(event: Component, zone: ZoneInfo) -> datetime | None:
    """Which time of its series an event stands for; None for one that is no exception. Raises RuleNotUnderstood for one that moves
    all the times after it as well.
    """
    if "RECURRENCE-ID" not in event:
        return None
    if event["RECURRENCE-ID"].params.get("RANGE"):
        raise RuleNotUnderstood
    return _moment(_date(event["RECURRENCE-ID"]), zone)


def _exceptions(event: Component, zone: ZoneInfo) -> Iterator[datetime]:
    given = event.get("EXDATE", [])
    for dates in given if isinstance(given, list) else [given]:
        for one in dates.dts:
            yield _moment(_date(one), zone)


def _end(event: Component, starts: date) -> date:
    if "DTEND" in event:
        return _date(event["DTEND"])
    if "DURATION" in event:
        return starts + _length(event["DURATION"])
    return starts if isinstance(starts, datetime) else starts + DAY


def _date(value: Any) -> date:
    """Raises AttributeError for what is none, or is there twice."""
    found: date = value.dt
    return found


def _length(value: Any) -> timedelta:
    found: timedelta = value.dt
    return found


def _moment(at: date, zone: ZoneInfo) -> datetime:
    """A moment in UTC: a day begins at midnight by the clocks of the business."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time.min)
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
