"""Minimal valid instances of a JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1S",
    "email": "nobody@example.com",
    "hostname": "localhost",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
MAX_DEPTH = 12

Filler = Callable[[str, dict[str, Any]], Any]


def no_filling(_name: str, _schema: dict[str, Any]) -> Any:
    return None


def instance_of(schema: dict[str, Any], *, fill: Filler = no_filling, only_found: bool = False) -> Any:
    """An instance of the schema. `fill(property name, its schema)` may give a value, or None to take the smallest.

    Only required properties are given. With `only_found`, other properties that `fill` finds are given too, and a required
    one that it doesn't find is null or an empty text where the schema allows it.
    """
    return _InstanceBuilder(schema, fill, only_found).make(schema, name="", depth=0)


class _InstanceBuilder:
    def __init__(self, root: dict[str, Any], fill: Filler, only_found: bool) -> None:
        self._root = root
        self._fill = fill
        self._only_found = only_found

    def make(self, schema: Any, *, name: str, depth: int) -> Any:
        if not isinstance(schema, dict):
            return "ok"
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        options = schema.get("anyOf") or schema.get("oneOf")
        if options and self._only_found and name and {"type": "null"} in options:
            return self._found_or_null(schema, options, name=name, depth=depth)
        if options:
            return self.make(self._option(options, depth), name=name, depth=depth + 1)
        filled = self._fill(name, schema) if name else None
        if filled is not None:
            return filled
        return schema["enum"][0] if schema.get("enum") else self._by_type(schema, name, depth)

    def _found_or_null(self, schema: dict[str, Any], options: list[Any], *, name: str, depth: int) -> Any:
        option = {**self._option(options, depth), "description": schema.get("description", "")}
        if "properties" in option:
            return self.make(option, name=name, depth=depth + 1)
        return self._fill(name, option)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        for _ in range(MAX_DEPTH):
            if "$ref" not in schema:
                break
            target: Any = self._root
            for part in schema["$ref"].lstrip("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")] if part else target
            schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
        for part in schema.get("allOf", ()):
            schema = _merged(schema, self._resolved(part))
        return schema

    @staticmethod
    def _option(options: list[Any], depth: int) -> Any:
        null = next((o for o in options if isinstance(o, dict) and o.get("type") == "null"), None)
        if depth > MAX_DEPTH and null is not None:
            return null
        return next((o for o in options if o is not null), options[0])

    def _by_type(self, schema: dict[str, Any], name: str, depth: int) -> Any:
        kind = schema.get("type") or ("object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = (
                "null" if self._only_found and "null" in kind else next((one for one in kind if one != "null"), "null")
            )
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                items = schema.get("items", {})
                return [self.make(items, name=name, depth=depth + 1) for _ in range(schema.get("minItems", 0))]
            case "boolean":
                return False
            case "null":
                return None
            case "integer" | "number":
                return _number(schema, is_integer=kind == "integer")
            case _:
                is_open = self._only_found and not schema.get("minLength") and schema.get("format") not in FORMATS
                return "" if is_open else _string(schema)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        optional = [key for key in properties if key not in required and self._is_found(key, properties[key])]
        return {key: self.make(properties.get(key, {}), name=key, depth=depth + 1) for key in (*required, *optional)}

    def _is_found(self, name: str, schema: Any) -> bool:
        if not self._only_found or not isinstance(schema, dict):
            return False
        inner = schema.get("properties", {})
        return self._fill(name, schema) is not None or any(self._is_found(key, part) for key, part in inner.items())


def _merged(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    merged = {**schema, **part}
    merged["properties"] = {**schema.get("properties", {}), **part.get("properties", {})}
    merged["required"] = [*schema.get("required", []), *part.get("required", [])]
    return {k: v for k, v in merged.items() if k != "allOf"}


def _number(schema: dict[str, Any], *, is_integer: bool) -> float:
    low = schema.get("minimum", 0)
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if "maximum" in schema and low > schema["maximum"]:
        low = schema["maximum"]
    if schema.get("multipleOf"):
        low = math.ceil(low / schema["multipleOf"]) * schema["multipleOf"]
    return int(low) if is_integer else float(low)


def _string(schema: dict[str, Any]) -> str:
    known = FORMATS.get(schema.get("format", ""))
    if known is not None:
        return known
    longest = schema.get("maxLength")
    text = "ok".ljust(schema.get("minLength", 0), "x")
    return text if longest is None else text[:longest]
