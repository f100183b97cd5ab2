"""Timestamps as text, in the business's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone

UTC = "UTC"
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
    exact = f"{local:%A} {local.day} {local:%B %Y, %H:%M:%S}"
    return Timestamp(
        words=_words(now - at, local, now.astimezone(local.tzinfo)),
        ago=_ago(now - at, local),
        date=f"{local.day} {local:%b}, {local:%H:%M}",
        exact=f"{exact} UTC" if zone == UTC else exact,
        iso=at.isoformat(),
    )


def _words(age: timedelta, local: datetime, today: datetime) -> str:
    if age < DAY:
        return _amount(age) or "now"
    if age < WEEK:
        return f"{local:%a}"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"


def _ago(age: timedelta, local: datetime) -> str:
    if abs(age) < MINUTE:
        return "just now"
    if abs(age) < DAY:
        return f"{_amount(age)} ago" if age > timedelta() else f"in {_amount(-age)}"
    if -WEEK <= age < timedelta():
        return "in 1 day" if age.days == -1 else f"in {-age.days} days"
    return f"{local:%A}" if timedelta() < age < WEEK else f"{local.day} {local:%b %Y}"


def _amount(age: timedelta) -> str:
    """An age of less than a day; empty under a minute."""
    if age < MINUTE:
        return ""
    return f"{age.seconds // 60} min" if age < HOUR else f"{age.seconds // 3600} h"
