"""Prompt budgets: the oldest messages of the transcript are dropped first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversations.context.transcript import TranscriptMessage, fit, size_of
from llm.types import ChatRequest

# The limit for a whole prompt including its functions. If the settings alone exceed it, the transcript keeps LEAST_BYTES.
PROMPT_BYTES = 25_000
LEAST_BYTES = 4_000


def within_budget(
    build: Callable[[Sequence[TranscriptMessage]], ChatRequest],
    messages: Sequence[TranscriptMessage],
    *,
    beside: int = 0,
) -> ChatRequest:
    """The request built from the messages, or from the newest of them if it would be too large.

    `beside` is the size of the tools' functions, in bytes.
    """
    request = build(messages)
    excess = sum(map(weight_of, request.messages)) + beside - PROMPT_BYTES
    if excess <= 0 or not messages:
        return request
    return build(fit(messages, room=max(size_of(messages) - excess, LEAST_BYTES)))


def make_room(request: ChatRequest, *, transcript: int, beside: int = 0) -> ChatRequest:
    """The request without the oldest messages of its transcript, after tool results made it grow.

    The transcript are the `transcript` messages after the first, which is the system's. The customer's latest messages,
    the tool results and LEAST_BYTES of the transcript are always kept.
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
    """Size of a message in bytes, with its tool calls."""
    called = message.get("tool_calls")
    written = len(json.dumps(called, ensure_ascii=False).encode()) if called else 0
    return len((message.get("content") or "").encode()) + written
