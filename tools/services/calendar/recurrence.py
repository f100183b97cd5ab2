"""Recurrence rules, for calendar servers that do not expand them.

A rule is evaluated per day and never iterated from its start, so the cost depends only on the window. Rules finer than
a day, and rare parts, are not supported.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
KNOWN = frozenset({"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTHDAY", "BYMONTH", "WKST"})
# Most days after the first one over which occurrences of a rule with COUNT are counted.
LONGEST_COUNT = 2_000
# Most days that all rules of a calendar may look at, so that many rules cost no more than a few.
MOST_DAYS = 20_000


class RuleNotUnderstood(Exception):
    """The calendar has an event with an unsupported recurrence rule, so its busy times are unknown."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


class SeriesTooLong(RuleNotUnderstood):
    """A recurring event of the calendar repeats over more than {days:,} days. End it on a date, not after a number of times."""

    def __init__(self) -> None:
        Exception.__init__(self, str(type(self).__doc__).format(days=LONGEST_COUNT))


class TooManyDays(RuleNotUnderstood):
    """The calendar has recurring events over too many days to count. End them on a date, not after a number of times."""


@dataclass
class DayBudget:
    """The days that the rules of a calendar may still look at."""

    left: int = MOST_DAYS

    def spend(self) -> None:
        """Count one day. Raises TooManyDays."""
        self.left -= 1
        if self.left < 0:
            raise TooManyDays


class Weekday(NamedTuple):
    """A weekday. `number` is its position in the month, negative from the end."""

    day: int
    number: int | None


@dataclass(frozen=True)
class Rule:
    """The recurrence of an event that starts on `first`."""

    first: date
    frequency: str
    interval: int
    count: int | None
    until: date | None
    weekdays: Collection[Weekday]
    monthdays: Collection[int]
    months: Collection[int]
    week_begins: int
    budget: DayBudget = field(default_factory=DayBudget)

    def days(self, since: date, until: date) -> Iterator[date]:
        """Yield the matching days between two dates, inclusive. Raises RuleNotUnderstood."""
        last = until if self.until is None else min(until, self.until)
        day = max(since, self.first)
        left = None if self.count is None else self.count - self._number_before(day, most=self.count)
        while day <= last and (left is None or left > 0):
            if self.falls_on(day):
                left = None if left is None else left - 1
                yield day
            day += DAY

    def falls_on(self, day: date) -> bool:
        """Return True if the day matches, regardless of COUNT and UNTIL. The first day always matches. Raises TooManyDays."""
        self.budget.spend()
        return day == self.first or FREQUENCIES[self.frequency](self, day)

    def _number_before(self, day: date, *, most: int) -> int:
        """The number of occurrences before a day, at most `most`."""
        days = (day - self.first).days
        if days > LONGEST_COUNT:
            raise SeriesTooLong
        matching = (one for number in range(days) if self.falls_on(one := self.first + number * DAY))
        return sum(1 for _ in islice(matching, max(0, min(most, LONGEST_COUNT))))

    def daily(self, day: date) -> bool:
        on_its_turn = (day - self.first).days % self.interval == 0
        return on_its_turn and self._in_months(day) and self._on_monthdays(day) and self._on_weekdays(day)

    def weekly(self, day: date) -> bool:
        weeks = (self._week(day) - self._week(self.first)).days // 7
        weekdays = {weekday.day for weekday in self.weekdays} or {self.first.weekday()}
        return weeks % self.interval == 0 and day.weekday() in weekdays and self._in_months(day)

    def monthly(self, day: date) -> bool:
        months = (day.year - self.first.year) * 12 + day.month - self.first.month
        return months % self.interval == 0 and self._in_months(day) and self._within_month(day)

    def yearly(self, day: date) -> bool:
        is_month = self._in_months(day) if self.months else day.month == self.first.month
        return (day.year - self.first.year) % self.interval == 0 and is_month and self._within_month(day)

    def _within_month(self, day: date) -> bool:
        if not self.monthdays and not self.weekdays:
            return day.day == self.first.day
        return self._on_monthdays(day) and self._on_weekdays(day)

    def _week(self, day: date) -> date:
        return day - (day.weekday() - self.week_begins) % 7 * DAY

    def _in_months(self, day: date) -> bool:
        return not self.months or day.month in self.months

    def _on_monthdays(self, day: date) -> bool:
        if not self.monthdays:
            return True
        length = monthrange(day.year, day.month)[1]
        return day.day in self.monthdays or day.day - length - 1 in self.monthdays

    def _on_weekdays(self, day: date) -> bool:
        return not self.weekdays or any(weekday in self.weekdays for weekday in _weekdays_of(day))


FREQUENCIES: Mapping[str, Callable[[Rule, date], bool]] = {
    "DAILY": Rule.daily,
    "WEEKLY": Rule.weekly,
    "MONTHLY": Rule.monthly,
    "YEARLY": Rule.yearly,
}


def read_rule(parts: Any, *, first: date, zone: ZoneInfo, budget: DayBudget) -> Rule:
    """Parse the parts of an RRULE; `zone` applies if the event names none. The rule looks at days of the budget. Raises
    RuleNotUnderstood, also for multiple rules.
    """
    try:
        return _read({str(name).upper(): list(values) for name, values in parts.items()}, first, zone, budget)
    except (ValueError, TypeError, AttributeError, LookupError):
        raise RuleNotUnderstood from None


def _read(parts: Mapping[str, list[Any]], first: date, zone: ZoneInfo, budget: DayBudget) -> Rule:
    frequency = str(parts["FREQ"][0]).upper()
    weekdays = {_weekday(str(text)) for text in parts.get("BYDAY", ())}
    has_number = any(weekday.number for weekday in weekdays)
    is_of_year = frequency == "YEARLY" and weekdays and "BYMONTH" not in parts
    if parts.keys() - KNOWN or frequency not in FREQUENCIES or is_of_year:
        raise RuleNotUnderstood
    if has_number and frequency not in ("MONTHLY", "YEARLY"):
        raise RuleNotUnderstood
    [interval], [count], [until], [week] = (
        parts.get(name, [default])
        for name, default in (("INTERVAL", 1), ("COUNT", None), ("UNTIL", None), ("WKST", "MO"))
    )
    return Rule(
        first=first.date() if isinstance(first, datetime) else first,
        frequency=frequency,
        interval=max(int(interval), 1),
        count=None if count is None else int(count),
        until=_day(until, first, zone),
        weekdays=weekdays,
        monthdays={int(day) for day in parts.get("BYMONTHDAY", ())},
        months={int(month) for month in parts.get("BYMONTH", ())},
        week_begins=WEEKDAYS.index(str(week).upper()),
        budget=budget,
    )


def _weekday(text: str) -> Weekday:
    """FR, 2TU, -1MO"""
    number = text[:-2]
    return Weekday(WEEKDAYS.index(text[-2:].upper()), int(number) if number else None)


def _day(until: Any, first: date, zone: ZoneInfo) -> date | None:
    """Return the last day in the event's local time. An UNTIL before the start time of its day means the day before."""
    if not isinstance(until, datetime) or not isinstance(first, datetime):
        return until if until is None or not isinstance(until, datetime) else until.date()
    local = until.astimezone(first.tzinfo or zone) if until.tzinfo else until
    is_before = local.time() < first.time()
    return local.date() - DAY if is_before else local.date()


def _weekdays_of(day: date) -> Iterator[Weekday]:
    """Yield the ways to name a day's weekday: Friday, second Friday, third Friday from the end."""
    from_end = (monthrange(day.year, day.month)[1] - day.day) // 7 + 1
    for number in (None, (day.day - 1) // 7 + 1, -from_end):
        yield Weekday(day.weekday(), number)
