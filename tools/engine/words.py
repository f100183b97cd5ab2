"""Comparison of texts by their words."""

from __future__ import annotations

import re
import unicodedata


def normalize_words(text: str) -> str:
    """The words of a text, normalized: without case, punctuation, extra whitespace and differences in Unicode form."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))
