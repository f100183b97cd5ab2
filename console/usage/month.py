"""A calendar month in UTC, as the usage page and its CSV name it."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date

from django.utils import timezone

from console.parameters import parse_day


@dataclass(frozen=True, order=True)
class Month:
    """A month by its first day."""

    first_day: date

    @property
    def last_day(self) -> date:
        return self.first_day.replace(day=monthrange(self.first_day.year, self.first_day.month)[1])

    @property
    def key(self) -> str:
        """As it is in an address, such as 2026-07."""
        return f"{self.first_day:%Y-%m}"

    @property
    def previous(self) -> Month:
        return Month((self.first_day.replace(day=1) - date.resolution).replace(day=1))

    @property
    def next(self) -> Month:
        return Month(self.last_day + date.resolution)


def this_month() -> Month:
    return Month(timezone.now().astimezone(UTC).date().replace(day=1))


def parse_month(text: str) -> Month:
    """The month of a text such as 2026-07; this month if it is none, or in the future."""
    day = parse_day(f"{text}-01")
    return min(Month(date.fromisoformat(day)), this_month()) if day else this_month()
