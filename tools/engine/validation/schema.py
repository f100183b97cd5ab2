"""Validation of the JSON Schemas in a tool: a small subset of the language.

`pattern` is refused because a regular expression can take minutes on 24 characters, `$ref` because it can point
anywhere. Schemas can't be combined, and depth and size are limited, because every call carries them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from django.utils.translation import gettext

from projects.common.translation import lazy
from projects.records.attributes import type_name
from tools.engine.validation.problem import Problem, join
from tools.engine.validation.values import boolean_problems, is_number, number_problems, shown, text_problems

MAX_DEPTH = 8
MAX_PROPERTIES = 100
MAX_CHOICES = 100
MAX_NAME_LENGTH = 64
MAX_TEXT_LENGTH = 1_000
MAX_CHOICE_LENGTH = 200
MAX_LENGTH = 100_000

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
SCALARS = ("string", "number", "integer", "boolean")
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")
PAIRS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
FLAGS = ("additionalProperties", "uniqueItems")
ANYTHING = ("default", "examples")
STRUCTURE = ("type", "properties", "required", "items", "enum", "const")
REFUSED = {
    "pattern": lazy("Regular expressions aren't allowed; list the values in enum or describe the format."),
    "patternProperties": lazy("Regular expressions aren't allowed; list each name in properties."),
    "$ref": lazy("References aren't allowed; write the schema out here."),
}
COMBINING = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$defs", "definitions", "dependentSchemas"}
)


def schema_problems(schema: Any, *, path: str) -> Iterator[Problem]:
    """Problems of an object schema, such as that of a request body."""
    if isinstance(schema, Mapping) and schema.get("type") != "object":
        yield Problem(
            join(path, "type"),
            gettext('%(path)s.type must be "object", not %(value)s.')
            % {"path": path, "value": shown(schema.get("type"))},
        )
        return
    if (count := _count_properties(schema, MAX_DEPTH)) > MAX_PROPERTIES:
        yield Problem(
            path,
            gettext("%(path)s has %(count)s properties; the limit is %(most)s.")
            % {"path": path, "count": format(count, ","), "most": MAX_PROPERTIES},
        )
        return
    yield from _node_problems(schema, path=path, depth=1)


def _node_problems(node: Any, *, path: str, depth: int) -> Iterator[Problem]:
    if depth > MAX_DEPTH:
        yield Problem(
            path,
            gettext("%(path)s is nested more than %(most)s levels deep; make the schema flatter.")
            % {"path": path, "most": MAX_DEPTH},
        )
    elif not isinstance(node, Mapping):
        yield Problem(
            path,
            gettext('%(path)s must be a JSON Schema such as {"type": "string"}, not %(type)s.')
            % {"path": path, "type": type_name(node)},
        )
    else:
        yield from _keyword_problems(node, path=path)
        yield from _type_problems(node, path=path)
        yield from _value_problems(node, path=path)
        yield from _property_problems(node, path=path, depth=depth)
        yield from _item_problems(node, path=path, depth=depth)


def _keyword_problems(node: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    for name in node:
        if name in REFUSED:
            yield Problem(join(path, name), str(REFUSED[name]))
        elif name in COMBINING:
            yield Problem(
                join(path, name), gettext("'%(name)s' isn't allowed; use type and properties.") % {"name": name}
            )
        elif name not in KEYWORDS:
            known = "type, description, properties, required, items, enum, minimum, maxLength"
            yield Problem(
                join(path, name),
                gettext("Unknown keyword '%(name)s'. Use %(known)s and the like.")
                % {"name": name[:80], "known": known},
            )


def _type_problems(node: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    types = types_of(node)
    at = join(path, "type")
    words = ", ".join(f'"{name}"' for name in TYPES if name != "null")
    if types is None:
        yield Problem(
            at,
            gettext("%(path)s must be one of %(words)s, not %(value)s.")
            % {"path": at, "words": words, "value": shown(node.get("type"))},
        )
    elif not types and not {"enum", "const"} & set(node):
        yield Problem(at, gettext("%(path)s is missing; write one of %(words)s.") % {"path": at, "words": words})


def types_of(node: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The types a schema names: none, one, or one and "null". None if they are invalid."""
    given = node.get("type", ())
    names = tuple(given) if isinstance(given, list) else (given,) if given != () else ()
    if any(not isinstance(name, str) or name not in TYPES for name in names) or len(set(names)) != len(names):
        return None
    return None if len([name for name in names if name != "null"]) != bool(names) else names


def _value_problems(node: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    for name, check in CHECKS.items():
        if name in node:
            yield from check(node[name], path=join(path, name))
    for low, high in PAIRS:
        if is_number(node.get(low)) and is_number(node.get(high)) and node[low] > node[high]:
            yield Problem(
                join(path, low),
                gettext("%(path)s is above %(high)s; nothing would fit.") % {"path": join(path, low), "high": high},
            )
    yield from _choice_problems(node, path=path)


def _bound_problems(value: Any, *, path: str) -> Iterator[Problem]:
    if not is_number(value):
        yield Problem(
            path, gettext("%(path)s must be a number, not %(value)s.") % {"path": path, "value": shown(value)}
        )


def _step_problems(value: Any, *, path: str) -> Iterator[Problem]:
    if not is_number(value) or value <= 0:
        yield Problem(
            path, gettext("%(path)s must be a number above 0, not %(value)s.") % {"path": path, "value": shown(value)}
        )


def _length_problems(value: Any, *, path: str) -> Iterator[Problem]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield Problem(
            path, gettext("%(path)s must be a whole number, not %(value)s.") % {"path": path, "value": shown(value)}
        )
    else:
        yield from number_problems(value, path=path, minimum=0, maximum=MAX_LENGTH)


def _choice_problems(node: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    if "enum" in node:
        yield from _enum_problems(node["enum"], path=join(path, "enum"))
    elif "const" not in node:
        return
    types = types_of(node)
    values = node.get("enum", [node.get("const")])
    for value in values if isinstance(values, list) and types else []:
        if not any(_is_of(value, name) for name in types or ()):
            at = join(path, "enum" if "enum" in node else "const")
            yield Problem(
                at,
                gettext("%(path)s holds %(value)s, which isn't of type %(types)s.")
                % {"path": at, "value": shown(value), "types": ", ".join(types or ())},
            )


def _enum_problems(values: Any, *, path: str) -> Iterator[Problem]:
    if not isinstance(values, list) or not values:
        yield Problem(path, gettext("%(path)s must list at least one value.") % {"path": path})
    elif len(values) > MAX_CHOICES:
        yield Problem(
            path,
            gettext("%(path)s lists %(count)s values; the limit is %(most)s.")
            % {"path": path, "count": format(len(values), ","), "most": MAX_CHOICES},
        )
    elif any(isinstance(value, dict | list) for value in values):
        yield Problem(path, gettext("%(path)s may list texts, numbers, true, false and null only.") % {"path": path})
    elif any(isinstance(value, str) and len(value) > MAX_CHOICE_LENGTH for value in values):
        yield Problem(
            path,
            gettext("%(path)s lists a text of more than %(most)s characters.")
            % {"path": path, "most": MAX_CHOICE_LENGTH},
        )
    elif len({(type(value), value) for value in values}) < len(values):
        yield Problem(path, gettext("%(path)s lists a value twice; remove one.") % {"path": path})


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _property_problems(node: Mapping[str, Any], *, path: str, depth: int) -> Iterator[Problem]:
    properties = node.get("properties", {})
    at = join(path, "properties")
    if not isinstance(properties, Mapping):
        yield Problem(at, gettext("%(path)s must be an object: a schema for each name.") % {"path": at})
        return
    if "object" in (types_of(node) or ()) and not properties:
        yield Problem(at, gettext("%(path)s is missing or empty; list the object's properties.") % {"path": at})
    for name, schema in properties.items():
        yield from text_problems(name, path=at, max_length=MAX_NAME_LENGTH, one_line=True)
        yield from _node_problems(schema, path=join(at, name), depth=depth + 1)
    yield from _required_problems(node.get("required", []), properties, path=join(path, "required"))


def _required_problems(required: Any, properties: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield Problem(path, gettext("%(path)s must be a list of names from properties.") % {"path": path})
        return
    for name in required:
        if name not in properties:
            yield Problem(
                path,
                gettext("%(path)s names '%(name)s', which isn't in properties; add it there, or remove it here.")
                % {"path": path, "name": name[:80]},
            )


def _item_problems(node: Mapping[str, Any], *, path: str, depth: int) -> Iterator[Problem]:
    at = join(path, "items")
    if "items" in node:
        yield from _node_problems(node["items"], path=at, depth=depth + 1)
    elif "array" in (types_of(node) or ()):
        yield Problem(at, gettext("%(path)s is missing; describe the array's items.") % {"path": at})


def _count_properties(node: Any, depth: int) -> int:
    """The number of properties in a schema, down to the given depth."""
    if not isinstance(node, Mapping) or depth == 0:
        return 0
    properties = node.get("properties")
    inner = list(properties.values()) if isinstance(properties, Mapping) else []
    return len(inner) + sum(_count_properties(part, depth - 1) for part in (*inner, node.get("items")))


CHECKS: Mapping[str, Callable[..., Iterator[Problem]]] = {
    "title": partial(text_problems, max_length=MAX_TEXT_LENGTH, is_required=False),
    "description": partial(text_problems, max_length=MAX_TEXT_LENGTH, is_required=False),
    "format": partial(text_problems, max_length=40, is_required=False),
    "multipleOf": _step_problems,
    **dict.fromkeys(BOUNDS, _bound_problems),
    **dict.fromkeys(LENGTHS, _length_problems),
    **dict.fromkeys(FLAGS, boolean_problems),
}
KEYWORDS = frozenset({*STRUCTURE, *ANYTHING, *CHECKS})
