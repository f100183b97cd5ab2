"""Fields that say how much is too much, and what would be right."""

from __future__ import annotations

import unicodedata
from typing import Any

from rest_framework import serializers

from projects.records.attributes import type_name

# Letters by their category, yet nothing is to be seen of them: fillers and the blank Braille pattern.
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


class TextField(serializers.CharField):
    """Words as a person wrote them: kept exactly, refused over `longest` characters or when nothing is to be seen."""

    default_error_messages = {
        "not_text": "must be text, not {found}.",
        "too_long": "has {count:,} characters; the limit is {longest:,}.",
        "empty": "is empty.",
    }

    def __init__(self, *, longest: int, **kwargs: Any) -> None:
        self.longest = longest
        super().__init__(trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text", found=type_name(data))
        if len(data) > self.longest:
            self.fail("too_long", count=len(data), longest=self.longest)
        if not self.allow_blank and is_empty(data):
            self.fail("empty")
        return data


def is_empty(text: str) -> bool:
    """Whether nothing is to be seen: spaces, controls, zero-width characters only. A combining mark is seen."""
    return all(unicodedata.category(letter) in UNSEEN or letter in BLANK_LETTERS for letter in text)
