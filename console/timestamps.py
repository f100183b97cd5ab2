"""When something happened, as a person says it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone


@dataclass(frozen=True)
class Moment:
    """`words` for the eye, `date` where an age would mislead, `exact` for the title, `iso` for machines."""

    words: str
    date: str
    exact: str
    iso: str


def moment_of(at: datetime, *, zone: str, now: datetime | None = None) -> Moment:
    """Relative under a day, then the weekday, then the date; exact in the business's time zone."""
    now = now or timezone.now()
    local = at.astimezone(ZoneInfo(zone))
    exact = f"{local:%A} {local.day} {local:%B %Y, %H:%M:%S}"
    date = f"{local.day} {local:%b}, {local:%H:%M}"
    return Moment(
        date=date, words=_words(now - at, local, now.astimezone(local.tzinfo)), exact=exact, iso=at.isoformat()
    )


def _words(age: timedelta, local: datetime, today: datetime) -> str:
    if age < timedelta(minutes=1):
        return "now"
    if age < timedelta(hours=1):
        return f"{age.seconds // 60} min"
    if age < timedelta(days=1):
        return f"{age.seconds // 3600} h"
    if age < timedelta(days=7):
        return f"{local:%a}"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"
