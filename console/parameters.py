"""Parsing of request parameters."""

from __future__ import annotations

from datetime import date
from uuid import UUID

FIRST_YEAR, LAST_YEAR = 2000, 2100


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
