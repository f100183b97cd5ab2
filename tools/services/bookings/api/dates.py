"""Dates and times given by API clients."""

from __future__ import annotations

from datetime import date, datetime, time

from rest_framework.request import Request

from projects.common.api_error import ApiError
from projects.models import Project
from tools.services.bookings.clock import read_clock, read_day, read_moment
from tools.services.bookings.opening import Opening
from tools.services.bookings.refusals import Closed, InvalidTime
from tools.services.bookings.search import config_of


def requested_day(request: Request) -> date | None:
    """Return the query parameter `date`, if given. Raises ApiError."""
    text = request.query_params.get("date")
    try:
        return read_day(text) if text else None
    except InvalidTime as error:
        raise ApiError("invalid_date", str(error), field="date") from error


def requested_time(request: Request) -> time | None:
    """Return the query parameter `time`, if given. Raises ApiError."""
    text = request.query_params.get("time")
    try:
        return read_clock(text) if text else None
    except InvalidTime as error:
        raise ApiError("invalid_time", str(error), field="time") from error


def parse_start(text: str, project: Project) -> datetime:
    """Parse a start time. Raises ApiError if it is invalid, and Closed if the clocks skip it."""
    try:
        given = read_moment(text)
    except InvalidTime as error:
        raise ApiError("invalid_starts_at", str(error), field="starts_at") from error
    if given.tzinfo:
        return given
    moment = Opening(config_of(project)).moment(given)
    if moment is None:
        raise Closed(f"The clocks skip {given:%H:%M} on that day.", field="starts_at")
    return moment
