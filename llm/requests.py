"""Chat requests built from a skill's prompts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from llm.prompts import render
from llm.types import LANE_DEADLINES, REPLY_DEADLINES, CallRecord, ChatRequest, Deadlines, ModelSpec

Recorder = Callable[[CallRecord], None]


def structured_request(
    skill: str,
    context: Any,
    *,
    model: ModelSpec,
    max_output_tokens: int,
    stable: Hashable = None,
    deadlines: Deadlines = LANE_DEADLINES,
) -> ChatRequest:
    """A background call: the stable prompt, then the volatile one. `stable` is passed to `render`."""
    prompt = render(skill, context, stable=stable)
    return ChatRequest(
        skill=skill,
        template_hash=prompt.template_hash,
        model=model,
        messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        deadlines=deadlines,
        max_output_tokens=max_output_tokens,
    )


def reply_request(
    context: Any,
    *,
    history: Sequence[dict[str, Any]],
    model: ModelSpec,
    max_output_tokens: int,
    stable: Hashable = None,
) -> ChatRequest:
    """The reply to a customer: the stable prompt, the transcript, then the volatile prompt."""
    prompt = render("reply", context, stable=stable)
    return ChatRequest(
        skill="reply",
        template_hash=prompt.template_hash,
        model=model,
        messages=[
            {"role": "system", "content": prompt.system},
            *history,
            {"role": "user", "content": prompt.user},
        ],
        deadlines=REPLY_DEADLINES,
        max_output_tokens=max_output_tokens,
    )


def agent_request(
    skill: str,
    context: Any,
    *,
    said: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]],
    model: ModelSpec,
    max_output_tokens: int,
    stable: Hashable,
) -> ChatRequest:
    """One step of a background agent: the prompt, the steps so far, and the tools it may use."""
    first = structured_request(skill, context, model=model, max_output_tokens=max_output_tokens, stable=stable)
    return replace(first, messages=[*first.messages, *said], tools=tools)
