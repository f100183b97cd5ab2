"""What a model is offered for a todo, and the tools' specifications in the wire format of Chat Completions (L09)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import NOTHING, MalformedTool, handler_of, wanted_arguments
from tools.engine.function_calling.offer import AgentToolDefinition


def specifications(tools: Iterable[CompiledTool]) -> list[dict[str, Any]]:
    """Each tool as a function, in the order given; one whose definition can't be carried out is left out."""
    return [found for tool in tools if (found := _specification(tool)) is not None]


def _specification(tool: CompiledTool) -> dict[str, Any] | None:
    try:
        parameters = _parameters(tool)
    except MalformedTool:
        return None
    return AgentToolDefinition(tool.name, tool.definition.description, parameters).as_openai()


def _parameters(tool: CompiledTool) -> Mapping[str, Any]:
    """The JSON Schema of its arguments. Raises MalformedTool."""
    if (handler := handler_of(tool.name, tool.definition)) is not None:
        return handler.schema
    wanted = wanted_arguments(tool.name, tool.definition)
    return wanted if isinstance(wanted, dict) else NOTHING
