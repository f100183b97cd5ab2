"""Parsing of request parameters."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.exceptions import BadRequest
from django.http import HttpRequest, QueryDict
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from conversations.analytics.outcomes import Slice
from conversations.analytics.period import LONGEST_DAYS, Period, days_until, last_days
from projects.api.query_params import read_day

FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2099, 12, 31)
# In the sentences that say what is expected.
EXAMPLE_DAY, EXAMPLE_MONTH = "2026-11-28", "2026-11"
EXAMPLE_ID = "019ac8f0-5d2e-7c41-9b3a-6f0d2e8a4c17"


class UnknownFilter(BadRequest):
    """A filter's value that its list doesn't have. The message is for people."""


def parse_choice(parameters: QueryDict, name: str, values: Collection[str]) -> str:
    """A filter's value, empty without one. Raises UnknownFilter, so that no list is taken for a narrowed one."""
    value = parameters.get(name, "")
    if value and value not in values:
        choices = ", ".join(str(one) for one in values if one)
        raise UnknownFilter(gettext("%(name)s must be one of: %(choices)s.") % {"name": name, "choices": choices})
    return value


def return_url(request: HttpRequest) -> str:
    """The address of ours that a form leads back to, empty without one."""
    address = request.POST.get("back", "")
    return address if url_has_allowed_host_and_scheme(address, allowed_hosts=None) else ""


def parse_uuid(text: str) -> UUID | None:
    """The UUID, or None if the text isn't one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_reference(parameters: QueryDict, name: str) -> UUID | None:
    """A filter's id, None without one. Raises UnknownFilter."""
    text = parameters.get(name, "")
    found = parse_uuid(text)
    if text and found is None:
        raise UnknownFilter(gettext("%(name)s must be an ID like %(example)s.") % {"name": name, "example": EXAMPLE_ID})
    return found


def parse_days(parameters: QueryDict) -> tuple[str, str]:
    """The parameters `since` and `until`, each a day such as 2026-11-28 or empty. Raises UnknownFilter."""
    since, until = _parse_day(parameters, "since"), _parse_day(parameters, "until")
    if since and until and until < since:
        raise UnknownFilter(gettext("until must not be before since."))
    return since, until


def _parse_day(parameters: QueryDict, name: str) -> str:
    text = parameters.get(name, "")
    if not text:
        return ""
    day = read_day(text)
    if day is None:
        raise UnknownFilter(
            gettext("%(name)s must be a day like %(example)s.") % {"name": name, "example": EXAMPLE_DAY}
        )
    if not FIRST_DAY <= day <= LAST_DAY:
        allowed = {"name": name, "first": FIRST_DAY, "last": LAST_DAY}
        raise UnknownFilter(gettext("%(name)s must be from %(first)s to %(last)s.") % allowed)
    return text


def period_of(cell: Slice, *, days: int, now: datetime) -> Period:
    """The days from `since` to `until`, in the zone of the cell; without both, the last ones.

    Without one of them, the period ends today or has as many days as the last ones. Raises UnknownFilter.
    """
    if not (cell.since or cell.until):
        return last_days(now, days=days, timezone=cell.timezone)
    today = now.astimezone(ZoneInfo(cell.timezone)).date()
    last = min(date.fromisoformat(cell.until), today) if cell.until else today
    first = date.fromisoformat(cell.since) if cell.since else last - timedelta(days=days - 1)
    if first > last:
        raise UnknownFilter(gettext("since must not be in the future."))
    if (last - first).days >= LONGEST_DAYS:
        most = {"days": LONGEST_DAYS - 1}
        raise UnknownFilter(gettext("since must be at most %(days)s days before until.") % most)
    return days_until(now, first, last, timezone=cell.timezone)
