"""Serializers that refuse what they don't know, instead of dropping it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from projects.api.fields import TextField

__all__ = ["StrictSerializer", "TextField"]

# Set by the server alone, whatever a client sends (API3).
FORBIDDEN = frozenset({"id", "organization", "project", "tenant"})


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it doesn't take, each with a sentence."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            writable = [name for name, field in self.fields.items() if not field.read_only]
            for name in data:
                if name not in writable:
                    raise ValidationError({name: _refusal(str(name), known=self.fields, writable=writable)})
        return super().to_internal_value(data)


def _refusal(name: str, *, known: Iterable[str], writable: list[str]) -> ErrorDetail:
    if name in FORBIDDEN or name in known:
        return ErrorDetail("cannot be set.", code="forbidden_field")
    return ErrorDetail(f"Unknown field '{name[:100]}'. {_suggestion(name, writable)}", code="unknown_field")


def _suggestion(name: str, writable: list[str]) -> str:
    if not writable:
        return "None can be set here."
    close = get_close_matches(name[:100], writable, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"Did you mean one of: {', '.join(writable)}?"
