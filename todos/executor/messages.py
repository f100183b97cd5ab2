"""The steps so far as a model reads them: its own calls, each with its result, and no call without one (T8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from todos.executor.run_context import StepWithCalls
from tools.engine.function_calling.messages import said_and_called


def as_messages(steps: Sequence[StepWithCalls]) -> list[dict[str, Any]]:
    """Messages in the wire format of Chat Completions."""
    return [message for taken in steps for message in said_and_called(taken.step.content, taken.calls)]
