"""Parsing of request parameters."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import QueryDict
from django.utils.translation import gettext

FIRST_YEAR, LAST_YEAR = 2000, 2100


class UnknownFilter(BadRequest):
    """A filter's value that its list doesn't have. The message is for people."""


def parse_choice(parameters: QueryDict, name: str, values: Collection[str]) -> str:
    """A filter's value, empty without one. Raises UnknownFilter, so that no list is taken for a narrowed one."""
    value = parameters.get(name, "")
    if value and value not in values:
        choices = ", ".join(str(one) for one in values if one)
        raise UnknownFilter(gettext("%(name)s must be one of: %(choices)s.") % {"name": name, "choices": choices})
    return value


def parse_uuid(text: str) -> UUID | None:
    """The UUID, or None if the text isn't one."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_day(text: str) -> str:
    """The day as `2026-11-24`, or an empty string if it isn't one."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return ""
    return day.isoformat() if FIRST_YEAR <= day.year < LAST_YEAR else ""
