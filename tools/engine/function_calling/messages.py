"""A model's own calls and their results, as it reads them again: no call without a result (T8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from llm.prompts import neutralize

# Of one result, and of all that a turn's tools told: there may be thirty of them.
LONGEST_RESULT = 4_000
MOST_RESULTS = 6_000
LEAST_RESULT = 300
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


class Called(Protocol):
    """A stored call."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    result: str


def said_and_called(
    content: str, calls: Sequence[Called], *, longest: int = LONGEST_RESULT
) -> Iterable[dict[str, Any]]:
    """One answer with its calls, and then their results, each of at most `longest` bytes, in the wire format of Chat
    Completions.
    """
    said: dict[str, Any] = {"role": "assistant", "content": content or None}
    if calls:
        said["tool_calls"] = [_as_called(call) for call in calls]
    return [said, *(_result(call, longest=longest) for call in calls)]


def room_for_each(calls: Sequence[Called]) -> int:
    """How many bytes of each result a model is shown, so that all of a turn's together stay readable."""
    whole = sum(min(len(call.result.encode()), LONGEST_RESULT) for call in calls)
    return LONGEST_RESULT if whole <= MOST_RESULTS else max(MOST_RESULTS // len(calls), LEAST_RESULT)


def _as_called(call: Called) -> dict[str, Any]:
    """A name or arguments that no provider takes back are replaced: their result says what was wrong."""
    function = {
        "name": NOT_IN_A_NAME.sub("_", call.name)[:64] or "unknown",
        "arguments": json.dumps(call.arguments or {}, ensure_ascii=False),
    }
    return {"id": call.call_id, "type": "function", "function": function}


def _result(call: Called, *, longest: int) -> dict[str, Any]:
    """A result is data: it can't close a tag, and is cut (threat 9)."""
    shown = call.result.encode()[:longest].decode(errors="ignore")
    return {"role": "tool", "tool_call_id": call.call_id, "content": neutralize(shown)}
