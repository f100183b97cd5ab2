"""Points in time as people say them: relative under a day, then the date; the exact time beside it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format


@dataclass(frozen=True)
class Moment:
    """How a time is shown: `text` in the row, `exact` in its title, `iso` for machines."""

    text: str
    exact: str
    iso: str


def moment(at: datetime) -> Moment:
    """`at` is aware; times are UTC."""
    utc = at.astimezone(UTC)
    return Moment(text=_text(utc), exact=f"{date_format(utc, 'j F Y, H:i')} UTC", iso=utc.isoformat())


def _text(at: datetime) -> str:
    gone = timezone.now() - at
    if abs(gone) >= timedelta(days=1):
        return _in_days(gone.days, at=at)
    minutes = int(abs(gone).total_seconds()) // 60
    if minutes < 1:
        return "just now"
    amount = f"{minutes} min" if minutes < 60 else f"{minutes // 60} h"
    return f"{amount} ago" if gone > timedelta() else f"in {amount}"


def _in_days(days: int, *, at: datetime) -> str:
    if -8 < days < 0:
        return "in 1 day" if days == -1 else f"in {-days} days"
    return date_format(at, "l") if 0 < days < 7 else date_format(at, "j M Y")
