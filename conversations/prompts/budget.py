"""Keeps a prompt within its budget: the transcript gives way, the oldest messages first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversations.context.transcript import TranscriptMessage, fit, size_of
from llm.types import ChatRequest

# What a whole prompt may weigh, with the functions that go along. A business whose settings alone weigh more keeps LEAST_BYTES
# for the transcript.
PROMPT_BYTES = 25_000
LEAST_BYTES = 4_000


def within_budget(
    build: Callable[[Sequence[TranscriptMessage]], ChatRequest],
    messages: Sequence[TranscriptMessage],
    *,
    beside: int = 0,
) -> ChatRequest:
    """The request that `build` makes of the messages, or of the newest of them when the whole is too long.

    `beside` are the bytes of what goes along with them: the functions of the tools.
    """
    request = build(messages)
    excess = sum(map(weight_of, request.messages)) + beside - PROMPT_BYTES
    if excess <= 0 or not messages:
        return request
    return build(fit(messages, room=max(size_of(messages) - excess, LEAST_BYTES)))


def make_room(request: ChatRequest, *, transcript: int, beside: int = 0) -> ChatRequest:
    """A request that has grown by what tools told in this turn, without the oldest messages of its transcript.

    The transcript are the `transcript` messages after the first, which is the system's. What the customer has said last and
    what the tools told stays, and LEAST_BYTES of the transcript.
    """
    weights = list(map(weight_of, request.messages))
    excess, kept = sum(weights) + beside - PROMPT_BYTES, sum(weights[1 : transcript + 1])
    dropped = 0
    while dropped < transcript and excess > 0 and kept - weights[dropped + 1] >= LEAST_BYTES:
        dropped += 1
        excess -= weights[dropped]
        kept -= weights[dropped]
    return replace(request, messages=[request.messages[0], *request.messages[dropped + 1 :]]) if dropped else request


def weight_of(message: Mapping[str, Any]) -> int:
    """The bytes of a message: its words, and what it calls."""
    called = message.get("tool_calls")
    written = len(json.dumps(called, ensure_ascii=False).encode()) if called else 0
    return len((message.get("content") or "").encode()) + written
