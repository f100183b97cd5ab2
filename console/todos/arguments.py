"""What a tool takes, in the order in which it says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import MalformedTool, arguments_schema, handler_of


def properties_of(tool: CompiledTool) -> Mapping[str, Any]:
    """The JSON Schema of each argument that the tool takes, by its name."""
    try:
        wanted = arguments_schema(tool.name, tool.definition)
    except MalformedTool:
        return {}
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        wanted = wanted.model_json_schema()
    return wanted.get("properties", {}) if isinstance(wanted, dict) else {}


def in_order(arguments: Mapping[str, Any], tool: CompiledTool | None) -> dict[str, Any]:
    """The arguments as the tool names them, whom it writes to first: what is kept as JSON has lost its order."""
    named = [addressee_of(tool), *properties_of(tool)] if tool else []
    known = [name for name in named if name in arguments]
    return {name: arguments[name] for name in dict.fromkeys([*known, *arguments])}


def addressee_of(tool: CompiledTool) -> str:
    """The argument that names whom the tool writes to; empty where none does."""
    handler = handler_of(tool.name, tool.definition)
    return handler.addressee if handler else ""
