"""Comparing what two messages say."""

from __future__ import annotations

import re
import unicodedata


def same_words(text: str) -> str:
    """A text without what makes no difference: case, spaces, punctuation, accents written in two ways."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))
