"""Redacted arguments of a call, for people and the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.engine.registry import builtin_tools

MASK = "••••"


def redacted_arguments(name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The arguments with those masked that the tool's handler hides, such as a one-time code."""
    if arguments is None:
        return None
    tool = builtin_tools().get(name)
    hidden = tool.handler.hidden if tool and tool.handler else frozenset()
    return {key: MASK if key in hidden else value for key, value in arguments.items()}
