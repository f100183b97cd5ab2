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
LOWER_CASE = ("es", "fr", "it")
USUAL_ORDER = ("j M", "j F")
MINUTE, HOUR, DAY, WEEK = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True)
class Timestamp:
    """A point in time in its display formats, each of them made in the language of the page that shows it."""

    at: datetime
    zone: str
    now: datetime

    @property
    def words(self) -> str:
        """A short age for columns: relative within a day, then the weekday, then the date."""
        return _words(self.now - self.at, self._local, self.now)

    @property
    def ago(self) -> str:
        """A phrase for sentences, past or future."""
        return _ago(self.now - self.at, self._local)

    @property
    def date(self) -> str:
        """The day and time."""
        return _format(self._local, f"{_order()[0]}, H:i")

    @property
    def exact(self) -> str:
        """The tooltip."""
        exact = _format(self._local, f"{_full_day()}, H:i:s")
        return f"{exact} UTC" if self.zone == UTC else exact

    @property
    def iso(self) -> str:
        """The machine-readable form."""
        return self.at.isoformat()

    @property
    def _local(self) -> datetime:
        return self.at.astimezone(ZoneInfo(self.zone))


def format_timestamp(at: datetime, *, zone: str = UTC, now: datetime | None = None) -> Timestamp:
    """The time as pages of this zone show it. Pages without a business use UTC."""
    return Timestamp(at, zone, now or timezone.now())


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
    return _format(day, _long_day())


def full_day(day: date) -> str:
    """Friday 27 November 2026"""
    return _format(day, _full_day())


def _full_day() -> str:
    return f"{_long_day()} Y"


def _long_day() -> str:
    return f"l{',' if get_language() == 'de' else ''} {_order()[1]}"


def _order() -> tuple[str, str]:
    return ORDERS.get(get_language() or "", USUAL_ORDER)


def _format(day: date, pattern: str) -> str:
    # Without its zone, a time isn't converted to the server's.
    words = str(date_format(day.replace(tzinfo=None) if isinstance(day, datetime) else day, pattern))
    # Django's names of these begin with capitals, which the languages have at the beginning of a sentence only.
    return words.lower() if get_language() in LOWER_CASE else words


def _words(age: timedelta, local: datetime, now: datetime) -> str:
    if age < DAY:
        return _amount(age) or gettext("now")
    if age < WEEK:
        return short_weekday(local)
    return short_day(local) if local.year == now.astimezone(local.tzinfo).year else short_date(local)


def _ago(age: timedelta, local: datetime) -> str:
    if abs(age) < MINUTE:
        return gettext("just now")
    if abs(age) < DAY:
        sentence = gettext("%(time)s ago") if age > timedelta() else gettext("in %(time)s")
        return sentence % {"time": _amount(abs(age))}
    if -WEEK <= age < timedelta():
        days = abs(age).days
        return ngettext("in %(days)s day", "in %(days)s days", days) % {"days": days}
    return weekday(local) if timedelta() < age < WEEK else short_date(local)


def _amount(age: timedelta) -> str:
    """An age of less than a day; empty under a minute."""
    if age < MINUTE:
        return ""
    minutes, hours = gettext("%(number)s min"), gettext("%(number)s h")
    return minutes % {"number": age.seconds // 60} if age < HOUR else hours % {"number": age.seconds // 3600}
