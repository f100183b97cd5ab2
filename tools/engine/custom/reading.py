"""The accepted JSON forms of a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext

from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.records.attributes import type_name
from tools.engine.validation.definition import FIELDS
from tools.engine.validation.problem import DefinitionRefused, Problem
from tools.engine.validation.values import object_problems

PLACE = re.compile(r"line (\d+), column (\d+)")
# Hints for mistakes that come from other languages.
NO_NAME = lazy('The tool\'s name is missing; write {"tools": {"my_tool": {…}}}, or add a "name" to the definition.')
TOOLS_EXPECTED = lazy('The key must be "tools": {"tools": {"my_tool": {…}}}.')
HINTS = (
    (re.compile(r"True\b|False\b"), lazy("JSON uses lowercase true and false.")),
    (re.compile(r"None\b|undefined\b"), lazy("JSON uses null.")),
    (re.compile(r"'|[“”]"), lazy('JSON uses straight double quotes: "like this".')),
    (re.compile(r"//|/\*|#"), lazy("JSON has no comments; remove it.")),
    (re.compile(r"[}\]]"), lazy("Is there an extra comma before it?")),
)


def read_json(text: str) -> Any:
    """Parse JSON as typed by a person. Raises ApiError with line, column and a hint at the likely mistake."""
    try:
        return parse_value(text)
    except ApiError as error:
        if error.code != "invalid_json":
            raise
        message = error.message.replace("Body", "This", 1)
        raise ApiError(error.code, f"{message}{_hint(text, message)}", field=error.field) from error


def read_registration(document: Any) -> dict[str, Any]:
    """The tools of `{"tools": {name: definition}}`, by name. Raises DefinitionRefused."""
    problems = list(object_problems(document, path="", known=("tools",)))
    tools = document.get("tools", {}) if isinstance(document, Mapping) else {}
    if not isinstance(tools, Mapping):
        problems.append(
            Problem(
                "tools",
                gettext("tools must be an object, a definition by name, not %(type)s.") % {"type": type_name(tools)},
            )
        )
    if problems:
        raise _malformed(problems)
    return dict(tools)


def read_tools(document: Mapping[str, Any]) -> dict[str, Any]:
    """The tools in any form: a registration, `{name: definition}`, or a definition with a `name` field.

    Raises DefinitionRefused.
    """
    if "tools" in document:
        return read_registration(document)
    if "name" in document:
        return {str(document["name"]): _unwrapped(document)}
    if [key.casefold() for key in document] in (["tool"], ["tools"]):
        raise _malformed([Problem(next(iter(document)), str(TOOLS_EXPECTED))])
    if len(document) == 1 and isinstance(next(iter(document.values())), Mapping):
        return dict(document)
    raise _malformed([Problem("name", str(NO_NAME))])


def read_definition(document: Mapping[str, Any], *, name: str) -> Any:
    """The definition of the named tool, in any form. Raises DefinitionRefused."""
    if "tools" in document or list(document) == [name]:
        tools = read_tools(document)
        if list(tools) != [name]:
            raise _malformed(
                [Problem("tools", gettext("This URL is for %(name)s; send only that tool.") % {"name": name})]
            )
        return tools[name]
    return _unwrapped(document)


def _unwrapped(document: Mapping[str, Any]) -> Any:
    """The value of `definition`, or the document's fields without those of the envelope."""
    if "definition" not in document:
        return {key: value for key, value in document.items() if key not in ENVELOPE}
    if problems := list(_strangers(document)):
        raise _malformed(problems)
    return document["definition"]


def _malformed(problems: Iterable[Problem]) -> DefinitionRefused:
    return DefinitionRefused([replace(problem, is_malformed=True) for problem in problems])


def _strangers(document: Mapping[str, Any]) -> Iterator[Problem]:
    for key in document:
        if key in FIELDS:
            yield Problem(key, gettext("%(key)s belongs inside definition.") % {"key": key})
        elif key not in ENVELOPE:
            yield Problem(
                key,
                gettext("Unknown field '%(name)s'. Allowed: %(known)s.")
                % {"name": key[:80], "known": ", ".join(ENVELOPE)},
            )


# Fields that the API accepts next to a definition.
ENVELOPE = ("name", "definition", "expected_version", "enabled")


def _hint(text: str, message: str) -> str:
    place = PLACE.search(message)
    if place is None:
        return ""
    lines = text.split("\n")
    line = lines[int(place[1]) - 1] if int(place[1]) <= len(lines) else ""
    rest = line[int(place[2]) - 1 :]
    return next((f" {hint}" for pattern, hint in HINTS if pattern.match(rest)), "")
