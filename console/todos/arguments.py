"""Tool arguments in schema order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import MalformedTool, arguments_schema, handler_of


def properties_of(tool: CompiledTool) -> Mapping[str, Any]:
    """JSON Schemas of the tool's arguments, by name."""
    try:
        wanted = arguments_schema(tool.name, tool.definition)
    except MalformedTool:
        return {}
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        wanted = wanted.model_json_schema()
    return wanted.get("properties", {}) if isinstance(wanted, dict) else {}


SAMPLES: Mapping[str, Any] = {"string": "…", "integer": 1, "number": 1, "boolean": True, "null": None}


def sample_of(schema: Mapping[str, Any]) -> Any:
    """A value of the form that a JSON Schema describes."""
    if options := [*schema.get("enum", []), *schema.get("examples", [])]:
        return options[0]
    if choices := schema.get("anyOf"):
        return sample_of(choices[0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: sample_of(part) for name, part in schema.get("properties", {}).items()}
    return [sample_of(schema.get("items", {}))] if kind == "array" else SAMPLES.get(str(kind), "…")


def in_order(arguments: Mapping[str, Any], tool: CompiledTool | None) -> dict[str, Any]:
    """The arguments in schema order, recipient first. JSON columns don't preserve key order."""
    named = [recipient_argument(tool), *properties_of(tool)] if tool else []
    known = [name for name in named if name in arguments]
    return {name: arguments[name] for name in dict.fromkeys([*known, *arguments])}


def recipient_argument(tool: CompiledTool) -> str:
    """Name of the argument that holds the recipient, or an empty string."""
    handler = handler_of(tool.name, tool.definition)
    return handler.addressee if handler else ""
