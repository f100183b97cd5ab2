"""A calendar month in UTC, as the usage page and its CSV name it."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext

from console.parameters import EXAMPLE_MONTH, FIRST_DAY, UnknownFilter
from projects.api.query_params import read_day


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
    def previous(self) -> Month | None:
        """The month before, None before the first that can be asked for."""
        found = Month((self.first_day - date.resolution).replace(day=1))
        return found if found >= FIRST_MONTH else None

    @property
    def next(self) -> Month:
        return Month(self.last_day + date.resolution)


FIRST_MONTH = Month(FIRST_DAY)


def this_month() -> Month:
    return Month(timezone.now().astimezone(UTC).date().replace(day=1))


def parse_month(parameters: QueryDict) -> Month:
    """The parameter `month`, such as 2026-07; without it, this month. Raises UnknownFilter."""
    text, latest = parameters.get("month", ""), this_month()
    if not text:
        return latest
    day = read_day(f"{text}-01")
    if day is None:
        raise UnknownFilter(gettext("month must be a month like %(example)s.") % {"example": EXAMPLE_MONTH})
    if not FIRST_MONTH <= (found := Month(day)) <= latest:
        allowed = {"name": "month", "first": FIRST_MONTH.key, "last": latest.key}
        raise UnknownFilter(gettext("%(name)s must be from %(first)s to %(last)s.") % allowed)
    return found
