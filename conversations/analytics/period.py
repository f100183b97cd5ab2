"""Periods of calendar days in a business's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

MOMENT = timedelta(microseconds=1)
FIRST_DAY = date(2000, 1, 1)
# The longest period that is counted at once.
LONGEST_DAYS = 366


@dataclass(frozen=True)
class Period:
    """Calendar days from `since` to `until`, which is excluded. Both are in the time zone.

    A period that ends today ends now, and the one before it at the same time of day.
    """

    since: datetime
    until: datetime
    timezone: str

    @property
    def length(self) -> int:
        """The number of days, with a day that has only begun."""
        return (self.last_day - self.since.date()).days + 1

    @property
    def first_day(self) -> date:
        return self.since.date()

    @property
    def last_day(self) -> date:
        return (self.until - MOMENT).date()

    @property
    def is_one_day(self) -> bool:
        return self.length == 1

    @property
    def before(self) -> Period:
        """The period of as many days before this one."""
        earlier = timedelta(days=self.length)
        return Period(since=self.since - earlier, until=self.until - earlier, timezone=self.timezone)


def last_days(now: datetime, *, days: int, timezone: str) -> Period:
    """Today and the days before it, up to and including now."""
    local = now.astimezone(ZoneInfo(timezone))
    today = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return Period(since=today - timedelta(days=days - 1), until=local + MOMENT, timezone=timezone)


def days_between(first: date, last: date, *, timezone: str) -> Period:
    """The days from `first` to `last`, both included."""
    zone = ZoneInfo(timezone)
    midnight = datetime.combine(last + timedelta(days=1), time(), zone)
    return Period(since=datetime.combine(first, time(), zone), until=midnight, timezone=timezone)


def days_until(now: datetime, first: date, last: date, *, timezone: str) -> Period:
    """The days from `first` to `last`, both included, or to now if `last` is today."""
    if last == now.astimezone(ZoneInfo(timezone)).date():
        return last_days(now, days=(last - first).days + 1, timezone=timezone)
    return days_between(first, last, timezone=timezone)
