"""Characters that have no place in a line of somebody else's text."""

from __future__ import annotations

import unicodedata

# Bidirectional controls: they display text in another order than it is stored.
REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
CONTROL_CATEGORIES = frozenset({"Cc", "Cs", "Co"})
LAYOUT = frozenset("\n\t")


def has_control_characters(text: str) -> bool:
    """True if the text contains characters that could break a prompt or a page: line breaks, control characters,
    bidirectional controls.
    """
    return any(_is_control(one) for one in text)


def without_control_characters(text: str) -> str:
    """The text without control characters and bidirectional controls. Line breaks and tabs stay."""
    return "".join(one for one in text if one in LAYOUT or not _is_control(one))


def _is_control(letter: str) -> bool:
    return not (letter.isascii() and letter.isprintable()) and (
        unicodedata.category(letter) in CONTROL_CATEGORIES or letter in REORDERING
    )
