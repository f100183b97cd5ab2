"""The execute skill: one step of carrying out an approved todo (L12, L14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llm.requests import agent_request
from llm.types import ChatRequest, ModelSpec
from tools.engine.skills.arguments import KnownFact
from tools.engine.skills.detect import TranscriptLine

SKILL: Literal["execute"] = "execute"
MAX_OUTPUT_TOKENS = 4_000


@dataclass(frozen=True)
class ExecuteContext:
    """The variables of templates/prompts/execute.

    `kind` says what todos of this type are, `quote` is the promise that it comes from, `earlier` what earlier runs have done;
    `messages` are the conversation that the todo belongs to, `summary` what was said before them.
    """

    business_name: str
    business_context: str
    now: str
    kind: str
    description: str
    quote: str
    contact: list[KnownFact]
    recipients: list[str]
    earlier: list[str]
    summary: str
    messages: list[TranscriptLine]


def build_request(
    context: ExecuteContext,
    *,
    said: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]],
    model: ModelSpec,
) -> ChatRequest:
    """The request for the next step. `said` are the steps so far, `tools` the specifications of what may be called."""
    return agent_request(
        SKILL,
        context,
        said=said,
        tools=tools,
        model=model,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(context.business_name, context.business_context),
    )
