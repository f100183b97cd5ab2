"""Comparison of texts by their words."""

from __future__ import annotations

import re
import unicodedata


def normalize_words(text: str) -> str:
    """The words of a text, normalized: without case, punctuation, extra whitespace and differences in Unicode form."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))


def plain_words(text: str) -> list[str]:
    """The words of a text, normalized and without accents."""
    letters = (one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return normalize_words("".join(letters)).split()
