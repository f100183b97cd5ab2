"""The tool caller's detection skill: which tools did the agent just commit to (N33)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, StrictBool

from llm.client import Client
from llm.requests import Recorder, structured_request
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool
from tools.engine.skills.exchange import TranscriptLine


class Rule(StrEnum):
    """Why a mentioned tool does not fire: the five rules of the source, two of grammar, and the conditions (N34-N38)."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FUTURE_STEP = "future_step"
    OFFER = "offer"
    SUBJECT = "subject"
    NEGATION = "negation"
    QUOTATION = "quotation"
    CONDITION = "condition"


class ConditionReading(BaseModel):
    """One condition of a tool, as read in the answer. Only a JSON true counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    met: StrictBool


class ToolReading(BaseModel):
    """One tool whose matter the agent mentioned, the evidence before the verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The exact words of the agent it rests on."""
    tool: str
    conditions: list[ConditionReading]
    rule: Rule | None
    """Why it does not count, or null when every condition is met."""


class Unserved(BaseModel):
    """A commitment that no tool serves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The exact words of the agent."""
    what: str
    """What it promised, in a few words."""


class Verdicts(BaseModel):
    """The tools that the agent mentioned."""

    model_config = ConfigDict(frozen=True)

    verdicts: list[ToolReading]


class Detection(Verdicts):
    """The tools that the agent mentioned, and what it promised besides."""

    model_config = ConfigDict(extra="forbid")

    # Not every model knows to look for them.
    unserved: list[Unserved] = []


AS_ABOVE = "as above"


@dataclass(frozen=True)
class ConditionLine:
    name: str
    description: str


@dataclass(frozen=True)
class ToolLine:
    name: str
    description: str
    conditions: tuple[ConditionLine, ...]


@dataclass(frozen=True)
class DetectContext:
    """The variables of templates/prompts/detect. `messages` is empty for tools that don't use history (N07, N08).

    `summary` tells what was said before `messages`, where they are not all. `elsewhere` are tools that another call asks
    about: what they serve is not unserved.
    """

    tools: list[ToolLine]
    messages: list[TranscriptLine]
    answer: str
    summary: str = ""
    asks_unserved: bool = False
    elsewhere: list[ToolLine] = field(default_factory=list)


async def detect(
    client: Client,
    model: ModelSpec,
    *,
    tools: Sequence[CompiledTool],
    lines: Sequence[TranscriptLine],
    answer: str,
    record: Recorder,
    summary: str = "",
    elsewhere: Sequence[CompiledTool] | None = None,
) -> Detection:
    """Ask the model which of the tools the agent committed to in `answer`. Raises LlmError.

    With `elsewhere`, the tools that another call asks about, it also asks for commitments that no tool serves. A reading of
    a tool that wasn't asked about is left out.
    """
    context = DetectContext(
        tools=tool_lines(tools),
        messages=list(lines),
        answer=answer,
        summary=summary,
        asks_unserved=elsewhere is not None,
        elsewhere=tool_lines(elsewhere or []),
    )
    # The system part is made of the tools alone.
    stable = (tuple(context.tools), context.asks_unserved, tuple(context.elsewhere))
    request = structured_request("detect", context, model=model, max_output_tokens=2000, stable=stable)
    found = await client.structured(request, output=Verdicts if elsewhere is None else Detection, record=record)
    asked = {tool.name for tool in tools}
    return Detection(
        verdicts=[reading for reading in found.verdicts if reading.tool in asked],
        unserved=found.unserved if isinstance(found, Detection) else [],
    )


def tool_lines(tools: Iterable[CompiledTool]) -> list[ToolLine]:
    """The tools as the prompts list them. What a condition says is written out once; a later tool's says `as above`."""
    told: dict[str, str] = {}
    lines = []
    for tool in tools:
        described = {name: condition.description for name, condition in tool.definition.conditions.items()}
        conditions = tuple(
            ConditionLine(name=name, description=AS_ABOVE if told.get(name) == text else text)
            for name, text in described.items()
        )
        told |= described
        lines.append(ToolLine(name=tool.name, description=tool.definition.description, conditions=conditions))
    return lines
