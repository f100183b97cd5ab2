"""Search result snippets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from projects.knowledge.passages import Piece

BEFORE = 40
LENGTH = 180


def excerpt(content: str, words: Iterable[str]) -> list[Piece]:
    """The text around the first match, or the beginning if there is none, with matches marked."""
    text = " ".join(content.split())
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(f"({alternatives})", re.IGNORECASE) if alternatives else None
    first = pattern.search(text) if pattern else None
    start = max(0, first.start() - BEFORE) if first else 0
    shown = text[start : start + LENGTH]
    pieces = _pieces(shown, pattern)
    return [*([Piece("…")] if start else []), *pieces, *([Piece("…")] if start + LENGTH < len(text) else [])]


def _pieces(text: str, pattern: re.Pattern[str] | None) -> list[Piece]:
    if pattern is None:
        return [Piece(text)]
    parts = pattern.split(text)
    return [Piece(part, is_marked=bool(number % 2)) for number, part in enumerate(parts) if part]
