"""Occurrences of an event within a window, in the business's time zone (RFC 5545)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Component

from tools.services.bookings.opening import Span
from tools.services.calendar.recurrence import DayBudget, RuleNotUnderstood, read_rule

DAY = timedelta(days=1)
LONGEST_OF_SERIES = timedelta(days=60)
# Exceptions raised while reading a malformed event.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def is_free(event: Component) -> bool:
    """Return True if the event does not block time."""
    return str(event.get("TRANSP", "")).upper() == "TRANSPARENT" or str(event.get("STATUS", "")).upper() == "CANCELLED"


def is_series(event: Component) -> bool:
    """Return True if recurrences must be expanded here; most servers expand them."""
    return "RRULE" in event or "RDATE" in event


def event_span(event: Component, zone: ZoneInfo) -> Span | None:
    """Return the event's span in UTC, or None if it is empty. Times without a zone use the business's zone."""
    starts = _date(event["DTSTART"])
    span = Span(_moment(starts, zone), _moment(_end(event, starts), zone))
    return span if span.starts_at < span.ends_at else None


def series_spans(
    event: Component, window: Span, zone: ZoneInfo, *, but: Collection[datetime], budget: DayBudget
) -> Iterator[Span]:
    """Yield the occurrences of a series around a window, without the excluded ones. The series looks at days of the
    budget. Raises RuleNotUnderstood.
    """
    first = _date(event["DTSTART"])
    # In the event's wall-clock time: 23:00 to 05:00 stays so every night, and a day may have 23 or 25 hours.
    length = _end(event, first) - first
    if length > LONGEST_OF_SERIES or "RDATE" in event:
        raise RuleNotUnderstood
    left_out = {*but, *_exceptions(event, zone)}
    rule = read_rule(event["RRULE"], first=first, zone=zone, budget=budget)
    for day in rule.days((window.starts_at - length - DAY).date(), (window.ends_at + DAY).date()):
        begins = datetime.combine(day, first.timetz()) if isinstance(first, datetime) else day
        span = Span(_moment(begins, zone), _moment(begins + length, zone))
        if span.starts_at not in left_out and span.starts_at < span.ends_at:
            yield span


def start_day(event: Component) -> str:
    """The day on which an event starts, as staff reads it; "" if it has none."""
    try:
        starts = _date(event["DTSTART"])
    except MALFORMED:
        return ""
    return f"{starts.day} {starts:%B %Y}"


def replaced_start(event: Component, zone: ZoneInfo) -> datetime | None:
    """Return the start of the occurrence that the event replaces, or None if it replaces none. Raises RuleNotUnderstood
    if it also moves all later occurrences.
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
    """Raises AttributeError for an invalid or duplicate property."""
    found: date = value.dt
    return found


def _length(value: Any) -> timedelta:
    found: timedelta = value.dt
    return found


def _moment(at: date, zone: ZoneInfo) -> datetime:
    """Convert to UTC. A date is midnight in the business's zone."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time.min)
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
