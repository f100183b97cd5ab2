"""Dates and times given by API clients."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import TypeVar

from rest_framework.request import Request

from projects.api.openapi_types import pattern_schema
from projects.common.api_error import ApiError
from projects.models import Project
from tools.services.bookings.clock import read_clock, read_day, read_moment
from tools.services.bookings.opening import Opening
from tools.services.bookings.refusals import Closed, InvalidTime
from tools.services.bookings.search import config_of

R = TypeVar("R", date, datetime, time)

# Dates and times that exist in every year, and February 29th. Years as in `read_day`.
_MONTHS = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9])"
_DAY = f"(?:19[7-9][0-9]|2[01][0-9]{{2}})-(?:{_MONTHS})"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
DAY = re.compile(_DAY)
CLOCK = re.compile(_CLOCK)
MOMENT = re.compile(rf"{_DAY}[T ]{_CLOCK}(?::[0-5][0-9](?:\.[0-9]{{1,6}})?)?(?:Z|[+-]{_CLOCK})?")
DAY_SCHEMA = {**pattern_schema(DAY), "format": "date"}


def requested_day(request: Request) -> date | None:
    """Return the query parameter `date`, if given. Raises ApiError."""
    text = request.query_params.get("date")
    if text is None:
        return None
    return _read(text, read_day, form=DAY, field="date")


def requested_time(request: Request) -> time | None:
    """Return the query parameter `time`, if given. Raises ApiError."""
    text = request.query_params.get("time")
    if text is None:
        return None
    return _read(text, read_clock, form=CLOCK, field="time")


def _read(text: str, read: Callable[[str], R], *, form: re.Pattern[str], field: str) -> R:
    """Raises ApiError: 400 for a text of another form, and 422 for a day that doesn't exist in that year."""
    try:
        found = read(text)
    except InvalidTime as error:
        status = 422 if form.fullmatch(text) else 400
        raise ApiError(f"invalid_{field}", str(error), field=field, status=status) from error
    return found


def parse_start(text: str, project: Project) -> datetime:
    """Parse a start time. Raises ApiError if it is invalid, and Closed if the clocks skip it."""
    given = _read(text, read_moment, form=MOMENT, field="starts_at")
    if given.tzinfo:
        return given
    moment = Opening(config_of(project)).moment(given)
    if moment is None:
        raise Closed(f"The clocks skip {given:%H:%M} on that day.", field="starts_at")
    return moment
