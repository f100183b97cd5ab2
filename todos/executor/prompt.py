"""The execute skill: one step of an approved todo."""

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

    `kind` describes the todo's type, `quote` is the promise it comes from, and `earlier` lists the effects of earlier
    runs. `messages` are the newest of the todo's conversation, `summary` covers those before.
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
    """The request for the next step. `said` are the steps so far, `tools` the specifications of the tools on offer."""
    return agent_request(
        SKILL,
        context,
        said=said,
        tools=tools,
        model=model,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(context.business_name, context.business_context),
    )
