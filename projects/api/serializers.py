"""Serializers that reject unknown fields instead of ignoring them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from projects.records.attributes import type_name

# Invisible characters that Unicode classifies as letters or symbols: fillers and the blank Braille pattern.
INVISIBLE_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
# Text with at least one visible character, as a pattern for the OpenAPI document. Characters beyond U+FFFF count as visible.
VISIBLE = (
    r"[^\u0000-\u0020\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u1680\u180e"
    r"\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb]"
)
# Only the server sets these.
FORBIDDEN = frozenset({"id", "organization", "project", "tenant"})
# Replacements for DRF's type errors. They name the expected JSON type and mention no Python types.
TYPE_MESSAGES: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], str, str], ...] = (
    (serializers.Serializer, "invalid", "must be a JSON object."),
    (serializers.DictField, "not_a_dict", "must be a JSON object."),
    (serializers.ListField, "not_a_list", "must be a list."),
    (serializers.BooleanField, "invalid", "must be true or false."),
    (serializers.UUIDField, "invalid", "must be a valid UUID."),
    (serializers.IntegerField, "invalid", "must be a whole number."),
    (serializers.ChoiceField, "invalid_choice", "must be one of: {choices}."),
    (serializers.CharField, "invalid", "must be text."),
)


# The JSON types that a field takes, with the code of its error. DRF would convert others: 1 to true, 5 to "5".
JSON_TYPES: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], type, str], ...] = (
    (serializers.BooleanField, bool, "invalid"),
    (serializers.IntegerField, int, "invalid"),
    (serializers.UUIDField, str, "invalid"),
    (serializers.ChoiceField, str, "invalid_choice"),
    (serializers.CharField, str, "invalid"),
)


class StrictSerializer(serializers.Serializer[Any]):
    """Rejects fields it doesn't accept and values of another JSON type, each with an explanation.

    `meant` maps names that no client may set to the field of this body to use instead. With `is_query`, the values are
    the texts of a query string. Where no field is required by itself, `alternatives` are the schemas of which a body
    matches at least one; the serializer checks it.
    """

    meant: ClassVar[Mapping[str, str]] = {}
    alternatives: ClassVar[Sequence[Mapping[str, Any]]] = ()
    is_query: ClassVar[bool] = False

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for field in fields.values():
            _set_type_messages(field)
        return fields

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            writable = [name for name, field in self.fields.items() if not field.read_only]
            for name in data:
                if name not in writable:
                    refusal = _refusal(str(name), known=self.fields, writable=writable, meant=self.meant)
                    raise ValidationError({name: refusal})
            if not self.is_query and (errors := _type_errors(data, fields=self.fields)):
                raise ValidationError(errors)
        return super().to_internal_value(data)


def _type_errors(
    values: Mapping[Any, Any], *, fields: Mapping[str, serializers.Field[Any, Any, Any, Any]]
) -> dict[Any, Any]:
    """The errors of values of another type than their field's, by name."""
    found = {name: _type_error(fields[name], value) for name, value in values.items() if name in fields}
    return {name: error for name, error in found.items() if error}


def _type_error(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    """The error of one value, in DRF's shape: a list, or errors by index or name. None if its type is right."""
    if isinstance(field, (serializers.ListField, serializers.DictField)):
        if not isinstance(value, (list, dict)):
            return None
        items: dict[Any, Any] = dict(enumerate(value)) if isinstance(value, list) else value
        return _type_errors(items, fields=dict.fromkeys(items, field.child)) or None
    for kind, json_type, code in JSON_TYPES:
        if isinstance(field, kind) and not isinstance(field, TextField):
            return None if _is_of_type(value, json_type) else _failure(field, value, code)
    return None


def _is_of_type(value: Any, json_type: type) -> bool:
    if value is None:
        return True
    if json_type is int:
        # JSON has one type of number: 5.0 is a whole number.
        return not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        )
    return isinstance(value, json_type)


def _failure(field: serializers.Field[Any, Any, Any, Any], value: Any, code: str) -> Any:
    try:
        field.fail(code, input=value, value=value)
    except ValidationError as error:
        return error.detail


def _set_type_messages(field: serializers.Field[Any, Any, Any, Any]) -> None:
    """Replace DRF's default type messages, also those of a list's items; a field's own messages are kept."""
    for kind, code, message in TYPE_MESSAGES:
        if isinstance(field, kind) and field.error_messages.get(code) == kind.default_error_messages.get(code):
            choices = ", ".join(map(str, field.choices)) if isinstance(field, serializers.ChoiceField) else ""
            field.error_messages[code] = message.format(choices=choices)
    if isinstance(field, (serializers.ListField, serializers.DictField)):
        _set_type_messages(field.child)


def _refusal(name: str, *, known: Iterable[str], writable: list[str], meant: Mapping[str, str]) -> ErrorDetail:
    if name in FORBIDDEN or name in known:
        hint = f" Did you mean '{meant[name]}'?" if name in meant else ""
        return ErrorDetail(f"cannot be set.{hint}", code="forbidden_field")
    return ErrorDetail(f"Unknown field '{name[:100]}'. {_suggestion(name, writable)}", code="unknown_field")


def _suggestion(name: str, writable: list[str]) -> str:
    if not writable:
        return "No field can be set here."
    close = get_close_matches(name[:100], writable, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"Did you mean one of: {', '.join(writable)}?"


class TextField(serializers.CharField):
    """Free text, stored exactly as sent. Rejects more than `longest` characters, and text without a visible character.

    `form` is the pattern that the OpenAPI document shows; the handler checks it.
    """

    default_error_messages = {
        "not_text": "must be text, not {found}.",
        "too_long": "has {count:,} characters; the limit is {longest:,}.",
        "empty": "is empty.",
    }

    def __init__(self, *, longest: int, form: re.Pattern[str] | None = None, **kwargs: Any) -> None:
        self.longest, self.form = longest, form
        super().__init__(trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text", found=type_name(data))
        if len(data) > self.longest:
            self.fail("too_long", count=len(data), longest=self.longest)
        if not self.allow_blank and is_empty(data):
            self.fail("empty")
        return data


class DocumentField(serializers.JSONField):
    """A JSON document that the handler reads. `hint` is its type in the OpenAPI document."""

    def __init__(self, *, hint: Any, **kwargs: Any) -> None:
        self.hint = hint
        super().__init__(**kwargs)


def is_empty(text: str) -> bool:
    """True if the text has no visible character: only spaces, controls and zero-width characters. Combining marks are
    visible.
    """
    return all(unicodedata.category(letter) in INVISIBLE_CATEGORIES or letter in INVISIBLE_LETTERS for letter in text)
