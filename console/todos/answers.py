"""Answers of tools for people: the fields of a JSON document, with their names as words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils.translation import gettext

from console.todos.plan import plain
from tools.engine.tool_words import argument_label
from tools.models import Effect

MOST_FIELDS = 40
DEEPEST = 4
SUMMARIZED = 4


def answer_fields(text: str, effect: Effect | None) -> list[tuple[str, str]]:
    """The fields of a tool's answer; empty if it is no JSON object or list. The text may be cut, the effect has the whole."""
    document = (effect.result or {}).get("body") if effect is not None else None
    if not isinstance(document, dict | list):
        document = _document(text)
    return list(islice(_fields(document, ()), MOST_FIELDS)) if isinstance(document, dict | list) else []


def summary_of(fields: list[tuple[str, str]]) -> str:
    """The first fields on one line."""
    return ", ".join(f"{name}: {' '.join(value.split())}" for name, value in fields[:SUMMARIZED])


def _document(text: str) -> Any:
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _fields(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Fields of nested objects have the names of all levels."""
    parts = _parts(value)
    if parts and len(path) < DEEPEST:
        for name, part in parts:
            yield from _fields(part, (*path, name))
    elif text := plain(value):
        yield " › ".join(path) or gettext("Answer"), text


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The named parts of an object, and the numbered ones of a list of objects."""
    if isinstance(value, dict):
        return [(argument_label(str(name)), part) for name, part in value.items()]
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return [(str(number), part) for number, part in enumerate(value, 1)]
    return []
