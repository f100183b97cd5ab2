"""The rerank skill: of the tools that share a tag, the one that fits the answer best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from llm.client import Client
from llm.requests import Recorder, structured_request
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool
from tools.engine.skills.detect import Exchange, ToolLine, TranscriptLine, moment_of, tool_lines

MAX_OUTPUT_TOKENS = 800


class RankedTool(BaseModel):
    """One of the competing tools."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    reason: str
    """What in the agent's words speaks for it or against it, in one sentence."""
    tool: str
    relevance: Annotated[int, Field(ge=0, le=100)]
    """How well it fits, from 0 to 100; no two tools have the same."""


class Ranking(BaseModel):
    """The competing tools, most relevant first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ranking: list[RankedTool]


@dataclass(frozen=True)
class RerankContext:
    """Variables of templates/prompts/rerank, as in detect."""

    tools: list[ToolLine]
    messages: list[TranscriptLine]
    answer: str
    summary: str
    now: str = ""


async def rerank_conflict(
    client: Client, model: ModelSpec, *, tools: Sequence[CompiledTool], exchange: Exchange, record: Recorder
) -> Ranking:
    """Ask which of the competing tools the agent committed to. History is included if one of them needs it. Raises
    LlmError.
    """
    needs_history = any(tool.definition.use_conversation_history for tool in tools)
    context = RerankContext(
        tools=tool_lines(tools),
        messages=list(exchange.lines) if needs_history else [],
        answer=exchange.answer,
        summary=exchange.summary if needs_history else "",
        now=moment_of(exchange.said_at),
    )
    request = structured_request("rerank", context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS)
    return await client.structured(request, output=Ranking, record=record)
