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


def in_order(arguments: Mapping[str, Any], tool: CompiledTool | None) -> dict[str, Any]:
    """The arguments in schema order, recipient first. JSON columns don't preserve key order."""
    named = [recipient_argument(tool), *properties_of(tool)] if tool else []
    known = [name for name in named if name in arguments]
    return {name: arguments[name] for name in dict.fromkeys([*known, *arguments])}


def recipient_argument(tool: CompiledTool) -> str:
    """Name of the argument that holds the recipient, or an empty string."""
    handler = handler_of(tool.name, tool.definition)
    return handler.addressee if handler else ""
