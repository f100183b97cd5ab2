"""Which tools are waited for, and how long (T22)."""

from __future__ import annotations

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import ActionType
from tools.engine.registry import builtin_tools


def wait_seconds(tool: CompiledTool) -> float:
    """How long the agent waits for the tool's result: as its handler says, or its definition for a webhook. 0: not at all."""
    if tool.definition.action.type is not ActionType.SEND_EVENT:
        return tool.definition.wait_seconds
    built_in = builtin_tools().get(tool.name)
    return built_in.handler.wait_seconds if built_in is not None and built_in.handler is not None else 0
