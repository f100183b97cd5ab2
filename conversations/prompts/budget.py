"""Prompt budgets: the oldest messages of the transcript are dropped first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversations.context.transcript import TranscriptMessage, fit, size_of
from llm.types import ChatRequest

# The limit for a whole prompt including its functions. If the settings alone exceed it, the transcript keeps MIN_TRANSCRIPT_BYTES.
MAX_PROMPT_BYTES = 25_000
MIN_TRANSCRIPT_BYTES = 4_000


def within_budget(
    build: Callable[[Sequence[TranscriptMessage]], ChatRequest],
    messages: Sequence[TranscriptMessage],
    *,
    extra_bytes: int = 0,
) -> ChatRequest:
    """The request built from the messages, or from the newest of them if it would be too large.

    `extra_bytes` is the size of the tools' functions, in bytes.
    """
    request = build(messages)
    excess = sum(map(weight_of, request.messages)) + extra_bytes - MAX_PROMPT_BYTES
    if excess <= 0 or not messages:
        return request
    return build(fit(messages, room=max(size_of(messages) - excess, MIN_TRANSCRIPT_BYTES)))


def make_room(request: ChatRequest, *, transcript: int, extra_bytes: int) -> ChatRequest:
    """The request without the oldest messages of its transcript, after tool results made it grow.

    The transcript are the `transcript` messages after the first, which is the system's. The customer's latest messages,
    the tool results and MIN_TRANSCRIPT_BYTES of the transcript are always kept.
    """
    weights = list(map(weight_of, request.messages))
    excess, kept = sum(weights) + extra_bytes - MAX_PROMPT_BYTES, sum(weights[1 : transcript + 1])
    dropped = 0
    while dropped < transcript and excess > 0 and kept - weights[dropped + 1] >= MIN_TRANSCRIPT_BYTES:
        dropped += 1
        excess -= weights[dropped]
        kept -= weights[dropped]
    return replace(request, messages=[request.messages[0], *request.messages[dropped + 1 :]]) if dropped else request


def weight_of(message: Mapping[str, Any]) -> int:
    """Size of a message in bytes, with its tool calls."""
    called = message.get("tool_calls")
    written = len(json.dumps(called, ensure_ascii=False).encode()) if called else 0
    return len((message.get("content") or "").encode()) + written
