"""Validation of plain values: texts, numbers and field names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext

from projects.api.serializers import is_empty
from projects.records.attributes import type_name
from tools.engine.validation.problem import Problem, join

LAYOUT = "\n\t"


def object_problems(value: Any, *, path: str, known: Iterable[str]) -> Iterator[Problem]:
    """Problems of an object that may have only known fields."""
    names = list(known)
    if not isinstance(value, Mapping):
        yield Problem(
            path,
            gettext("%(path)s must be an object, not %(type)s.")
            % {"path": path or gettext("A tool"), "type": type_name(value)},
        )
        return
    for name in value:
        if name not in names:
            yield Problem(
                join(path, name),
                gettext("Unknown field '%(name)s'. %(suggestion)s")
                % {"name": name[:80], "suggestion": _suggestion(name, names)},
            )


def _suggestion(name: str, known: list[str]) -> str:
    close = get_close_matches(name[:80], known, n=1)
    if close:
        return gettext("Did you mean '%(close)s'?") % {"close": close[0]}
    return (
        (gettext("Allowed: %(known)s.") % {"known": ", ".join(known)})
        if known
        else gettext("No fields are allowed here.")
    )


def text_problems(
    value: Any, *, path: str, max_length: int, is_required: bool = True, one_line: bool = False
) -> Iterator[Problem]:
    """Problems of a text: type, emptiness if it is required, length, control characters."""
    if not isinstance(value, str):
        yield Problem(path, gettext("%(path)s must be text, not %(type)s.") % {"path": path, "type": type_name(value)})
    elif is_required and is_empty(value):
        yield Problem(path, gettext("%(path)s can't be empty.") % {"path": path})
    elif len(value) > max_length:
        yield Problem(
            path,
            gettext("%(path)s has %(count)s characters; the limit is %(most)s.")
            % {"path": path, "count": format(len(value), ","), "most": format(max_length, ",")},
        )
    elif (bad := _unprintable(value, allowed="" if one_line else LAYOUT)) is not None:
        yield Problem(
            path,
            gettext("In %(path)s, character %(number)s is U+%(code)s, a line break or control character; remove it.")
            % {"path": path, "number": bad + 1, "code": format(ord(value[bad]), "04X")},
        )


def _unprintable(text: str, *, allowed: str) -> int | None:
    bad = (at for at, letter in enumerate(text) if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp"))
    return next((at for at in bad if text[at] not in allowed), None)


def boolean_problems(value: Any, *, path: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield Problem(
            path,
            gettext("%(path)s must be true or false, without quotation marks, not %(value)s.")
            % {"path": path, "value": shown(value)},
        )


def number_problems(value: Any, *, path: str, minimum: float, maximum: float) -> Iterator[Problem]:
    if not is_number(value) or not minimum <= value <= maximum:
        yield Problem(
            path,
            gettext("%(path)s must be a number from %(minimum)s to %(maximum)s, not %(value)s.")
            % {"path": path, "minimum": format(minimum, "g"), "maximum": format(maximum, "g"), "value": shown(value)},
        )


def choice_problems(value: Any, *, path: str, choices: Iterable[str]) -> Iterator[Problem]:
    allowed = list(choices)
    if value not in allowed:
        words = ", ".join(f'"{choice}"' for choice in allowed)
        sentence = (
            gettext("%(path)s must be one of %(words)s, not %(value)s.")
            if len(allowed) > 1
            else gettext("%(path)s must be %(words)s, not %(value)s.")
        )
        yield Problem(path, sentence % {"path": path, "words": words, "value": shown(value)})


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value for use in a sentence: short, as JSON."""
    if isinstance(value, str):
        return f'"{value[:60]}"'
    return str(value)[:60] if is_number(value) else type_name(value)
