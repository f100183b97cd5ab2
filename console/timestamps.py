"""Timestamps as text, in the business's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext, ngettext

UTC = "UTC"
# The order of day and month, in Django's notation: with the short name of the month, and with the long one. The day
# comes first in each of these languages.
ORDERS = {"de": ("j. M", "j. F"), "es": ("j M", r"j \d\e F")}
USUAL_ORDER = ("j M", "j F")
MINUTE, HOUR, DAY, WEEK = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True)
class Timestamp:
    """A point in time in its display formats.

    `words` is a short age for columns, `ago` a phrase for sentences (past or future), `date` the day and time, `exact` the
    tooltip, and `iso` the machine-readable form.
    """

    words: str
    ago: str
    date: str
    exact: str
    iso: str


def format_timestamp(at: datetime, *, zone: str = UTC, now: datetime | None = None) -> Timestamp:
    """Relative within a day, then the weekday, then the date. Pages without a business use UTC."""
    now = now or timezone.now()
    local = at.astimezone(ZoneInfo(zone))
    exact = f"{full_day(local)}, {local:%H:%M:%S}"
    return Timestamp(
        words=_words(now - at, local, now.astimezone(local.tzinfo)),
        ago=_ago(now - at, local),
        date=f"{short_day(local)}, {local:%H:%M}",
        exact=f"{exact} UTC" if zone == UTC else exact,
        iso=at.isoformat(),
    )


def short_day(day: date) -> str:
    """27 Nov, 27. Nov"""
    return _format(day, _order()[0])


def short_date(day: date) -> str:
    """27 Nov 2026"""
    return _format(day, f"{_order()[0]} Y")


def month_day(day: date) -> str:
    """27 November, 27. November"""
    return _format(day, _order()[1])


def weekday(day: date) -> str:
    """Friday"""
    return _format(day, "l")


def short_weekday(day: date) -> str:
    """Fri"""
    return _format(day, "D")


def short_month(day: date) -> str:
    """Nov"""
    return _format(day, "M")


def long_day(day: date) -> str:
    """Friday 27 November, Freitag, 27. November"""
    return f"{weekday(day)}{',' if get_language() == 'de' else ''} {month_day(day)}"


def full_day(day: date) -> str:
    """Friday 27 November 2026"""
    return f"{long_day(day)} {day.year}"


def _order() -> tuple[str, str]:
    return ORDERS.get(get_language() or "", USUAL_ORDER)


def _format(day: date, pattern: str) -> str:
    # Without its zone, a time isn't converted to the server's.
    return str(date_format(day.replace(tzinfo=None) if isinstance(day, datetime) else day, pattern))


def _words(age: timedelta, local: datetime, today: datetime) -> str:
    if age < DAY:
        return _amount(age) or gettext("now")
    if age < WEEK:
        return short_weekday(local)
    return short_day(local) if local.year == today.year else short_date(local)


def _ago(age: timedelta, local: datetime) -> str:
    if abs(age) < MINUTE:
        return gettext("just now")
    if abs(age) < DAY:
        sentence = gettext("%(time)s ago") if age > timedelta() else gettext("in %(time)s")
        return sentence % {"time": _amount(abs(age))}
    if -WEEK <= age < timedelta():
        return ngettext("in %(days)s day", "in %(days)s days", -age.days) % {"days": max(1, -age.days)}
    return weekday(local) if timedelta() < age < WEEK else short_date(local)


def _amount(age: timedelta) -> str:
    """An age of less than a day; empty under a minute."""
    if age < MINUTE:
        return ""
    minutes, hours = gettext("%(number)s min"), gettext("%(number)s h")
    return minutes % {"number": age.seconds // 60} if age < HOUR else hours % {"number": age.seconds // 3600}
