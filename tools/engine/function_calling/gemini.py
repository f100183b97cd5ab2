"""Conversion of JSON Schema to Gemini's `Schema`, a subset of OpenAPI with types in capitals.

Kept: type, description, nullable, enum of strings, properties, required, items, anyOf, bounds and lengths. References
are inlined, and enums of other values are listed in the description. Everything else is dropped; calls are validated
against the full schema anyway.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

KEPT_KEYWORDS = ("description", "required", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
MAX_DEPTH = 12
# Types of enum values without a declared type.
TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def gemini_parameters(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters of a function; None if it has none, because Gemini rejects an object without properties."""
    return _schema(schema, definitions=schema.get("$defs", {}), depth=0) if schema.get("properties") else None


def _schema(node: Mapping[str, Any], *, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise ValueError("A schema that contains itself can't be written out.")
    if "$ref" in node:
        named = definitions[node["$ref"].rpartition("/")[2]]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _schema({**named, **beside}, definitions=definitions, depth=depth + 1)
    kinds, is_nullable = _kinds(node)
    # With several types, each alternative carries all keywords.
    written = {} if isinstance(node.get("type"), list) else {key: node[key] for key in KEPT_KEYWORDS if key in node}
    if is_nullable:
        written["nullable"] = True
    if len(kinds) == 1:
        inner = _schema(kinds[0], definitions=definitions, depth=depth + 1)
        return {**inner, **written}
    if kinds:
        return {**written, "anyOf": [_schema(kind, definitions=definitions, depth=depth + 1) for kind in kinds]}
    return {**written, **_plain(node, definitions=definitions, depth=depth)}


def _kinds(node: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """The alternatives of a schema other than null, and whether null is one of them."""
    if isinstance(node.get("type"), list):
        types = [name for name in node["type"] if name != "null"]
        return [{**node, "type": name} for name in types], "null" in node["type"]
    given = node.get("anyOf") or node.get("oneOf") or []
    return [one for one in given if one.get("type") != "null"], any(one.get("type") == "null" for one in given)


def _plain(node: Mapping[str, Any], *, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """A schema of one type."""
    given = node.get("enum", [node["const"]] if "const" in node else [])
    values = [value for value in given if value is not None]
    name = node.get("type") or (TYPES[type(values[0])] if values else "object")
    written: dict[str, Any] = {"type": str(name).upper(), **({"nullable": True} if None in given else {})}
    if values and all(isinstance(value, str) for value in values):
        written |= {"enum": values, "format": "enum"}
    elif values:
        choice = f"one of: {', '.join(map(json.dumps, values))}"
        written["description"] = "; ".join(part for part in (node.get("description"), choice) if part)
    if properties := node.get("properties"):
        written["properties"] = {
            key: _schema(part, definitions=definitions, depth=depth + 1) for key, part in properties.items()
        }
    if isinstance(node.get("items"), Mapping):
        written["items"] = _schema(node["items"], definitions=definitions, depth=depth + 1)
    return written
