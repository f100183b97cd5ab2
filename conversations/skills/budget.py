"""Keeps a prompt within its budget: the transcript gives way, the oldest messages first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conversations.transcript import Said, fit, size_of
from llm.types import ChatRequest

# What a whole prompt may weigh. A business whose settings alone weigh more keeps LEAST_BYTES for the transcript.
PROMPT_BYTES = 25_000
LEAST_BYTES = 4_000


def within_budget(build: Callable[[Sequence[Said]], ChatRequest], messages: Sequence[Said]) -> ChatRequest:
    """The request that `build` makes of the messages, or of the newest of them when the whole is too long."""
    request = build(messages)
    excess = sum(len(message["content"].encode()) for message in request.messages) - PROMPT_BYTES
    if excess <= 0 or not messages:
        return request
    return build(fit(messages, room=max(size_of(messages) - excess, LEAST_BYTES)))
