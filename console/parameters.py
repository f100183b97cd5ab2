"""Parsing of request parameters."""

from __future__ import annotations

from uuid import UUID


def parse_uuid(text: str) -> UUID | None:
    """The UUID, or None if the text isn't one."""
    try:
        return UUID(text)
    except ValueError:
        return None
