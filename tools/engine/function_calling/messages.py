"""A model's past calls and their results as messages: every call has a result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from llm.prompts import neutralize

# Byte limits: for one result, and for all results of a turn, of which there may be thirty.
MAX_RESULT_BYTES = 4_000
MAX_TURN_RESULT_BYTES = 6_000
MIN_RESULT_BYTES = 300
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


class StoredCall(Protocol):
    """A stored call."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    result: str


def call_messages(
    content: str, calls: Sequence[StoredCall], *, max_bytes: int = MAX_RESULT_BYTES
) -> Iterable[dict[str, Any]]:
    """One answer with its calls, followed by their results, as Chat Completions messages.

    Each result is cut to `max_bytes` bytes.
    """
    said: dict[str, Any] = {"role": "assistant", "content": content or None}
    if calls:
        said["tool_calls"] = [_call(call) for call in calls]
    return [said, *(_result(call, max_bytes=max_bytes) for call in calls)]


def result_limit(calls: Sequence[StoredCall]) -> int:
    """The byte limit of each result, so that all results of a turn stay readable together."""
    whole = sum(min(len(call.result.encode()), MAX_RESULT_BYTES) for call in calls)
    return (
        MAX_RESULT_BYTES
        if whole <= MAX_TURN_RESULT_BYTES
        else max(MAX_TURN_RESULT_BYTES // len(calls), MIN_RESULT_BYTES)
    )


def _call(call: StoredCall) -> dict[str, Any]:
    """Replace a name or arguments that a provider would reject; the result says what was wrong."""
    function = {
        "name": NOT_IN_A_NAME.sub("_", call.name)[:64] or "unknown",
        "arguments": json.dumps(call.arguments or {}, ensure_ascii=False),
    }
    return {"id": call.call_id, "type": "function", "function": function}


def _result(call: StoredCall, *, max_bytes: int) -> dict[str, Any]:
    """A result is data: it is escaped so that it can't close a tag, and cut."""
    shown = call.result.encode()[:max_bytes].decode(errors="ignore")
    return {"role": "tool", "tool_call_id": call.call_id, "content": neutralize(shown)}
