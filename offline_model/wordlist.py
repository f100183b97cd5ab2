"""Word sets written as plain text."""

from __future__ import annotations

from functools import cache


@cache
def words(text: str) -> frozenset[str]:
    """The words of a text with spaces between them."""
    return frozenset(text.split())


def listed(text: str) -> list[str]:
    """The words of a text in their order."""
    return text.split()
