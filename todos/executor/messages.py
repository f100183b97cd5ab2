"""The steps so far as a model reads them: its own calls, each with its result, and no call without one (T8)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from llm.prompts import neutralise
from todos.executor.work import Taken
from todos.models import TodoCall

LONGEST_RESULT = 4_000
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


def as_messages(steps: Sequence[Taken]) -> list[dict[str, Any]]:
    """Messages in the wire format of Chat Completions."""
    return [message for step in steps for message in _of_step(step)]


def _of_step(taken: Taken) -> list[dict[str, Any]]:
    said: dict[str, Any] = {"role": "assistant", "content": taken.step.content or None}
    if taken.calls:
        said["tool_calls"] = [_as_called(call) for call in taken.calls]
    return [said, *(_result(call) for call in taken.calls)]


def _as_called(call: TodoCall) -> dict[str, Any]:
    """A name or arguments that no provider takes back are replaced: their result says what was wrong."""
    function = {
        "name": NOT_IN_A_NAME.sub("_", call.name)[:64] or "unknown",
        "arguments": json.dumps(call.arguments or {}, ensure_ascii=False),
    }
    return {"id": call.call_id, "type": "function", "function": function}


def _result(call: TodoCall) -> dict[str, Any]:
    """A result is data: it can't close a tag, and is cut (threat 9)."""
    return {"role": "tool", "tool_call_id": call.call_id, "content": neutralise(call.result[:LONGEST_RESULT])}
