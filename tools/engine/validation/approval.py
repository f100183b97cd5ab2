"""Validation of `requires_approval`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from projects.common.translation import lazy
from tools.engine.definition import ActionType, Trigger
from tools.engine.registry import builtin_tools
from tools.engine.validation.problem import Problem

AT_ONCE = lazy("requires_approval: {name} can't wait for approval; only webhooks and tools that run as a task can.")


def approval_problems(name: Any, document: Any) -> Iterator[Problem]:
    """A tool that requires approval must be able to run later, as a task. Other problems are reported elsewhere."""
    if not isinstance(document, Mapping) or document.get("requires_approval") is not True:
        return
    action = document.get("action", {})
    kind = action.get("type", ActionType.SEND_EVENT) if isinstance(action, Mapping) else None
    covered = builtin_tools().get(str(name)) if kind == ActionType.SEND_EVENT else None
    if kind != ActionType.SEND_WEBHOOK and (covered is None or Trigger.TASK not in covered.moments):
        yield Problem("requires_approval", AT_ONCE.format(name=str(name)[:80]))
