"""Serializers that refuse what they don't know, instead of dropping it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

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


__all__ = ["StrictSerializer", "TextField"]

# What DRF says of the wrong type, in our words: what would be right, and no names of Python's.
OURS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], str, str], ...] = (
    (serializers.Serializer, "invalid", "must be a JSON object."),
    (serializers.DictField, "not_a_dict", "must be a JSON object."),
    (serializers.ListField, "not_a_list", "must be a list."),
    (serializers.BooleanField, "invalid", "must be true or false."),
    (serializers.UUIDField, "invalid", "must be an id, as the API gives it."),
    (serializers.IntegerField, "invalid", "must be a whole number."),
    (serializers.ChoiceField, "invalid_choice", "must be one of: {choices}."),
    (serializers.CharField, "invalid", "must be text."),
)

# Set by the server alone, whatever a client sends (API3).
FORBIDDEN = frozenset({"id", "organization", "project", "tenant"})


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it doesn't take, each with a sentence. `meant` says of names that no client sets which field of this
    body takes what they hold elsewhere.
    """

    meant: ClassVar[Mapping[str, str]] = {}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for field in fields.values():
            _say_what_would_be_right(field)
        return fields

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            writable = [name for name, field in self.fields.items() if not field.read_only]
            for name in data:
                if name not in writable:
                    refusal = _refusal(str(name), known=self.fields, writable=writable, meant=self.meant)
                    raise ValidationError({name: refusal})
        return super().to_internal_value(data)


def _say_what_would_be_right(field: serializers.Field[Any, Any, Any, Any]) -> None:
    """Words that a field was given for itself stay."""
    for kind, code, words in OURS:
        if isinstance(field, kind) and field.error_messages.get(code) == kind.default_error_messages.get(code):
            choices = ", ".join(map(str, field.choices)) if isinstance(field, serializers.ChoiceField) else ""
            field.error_messages[code] = words.format(choices=choices)


def _refusal(name: str, *, known: Iterable[str], writable: list[str], meant: Mapping[str, str]) -> ErrorDetail:
    if name in FORBIDDEN or name in known:
        hint = f" Did you mean '{meant[name]}'?" if name in meant else ""
        return ErrorDetail(f"cannot be set.{hint}", code="forbidden_field")
    return ErrorDetail(f"Unknown field '{name[:100]}'. {_suggestion(name, writable)}", code="unknown_field")


def _suggestion(name: str, writable: list[str]) -> str:
    if not writable:
        return "None can be set here."
    close = get_close_matches(name[:100], writable, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"Did you mean one of: {', '.join(writable)}?"
