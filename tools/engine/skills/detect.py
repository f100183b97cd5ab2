"""The detection skill: the tools the agent has just committed to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool

from llm.client import Client
from llm.requests import Recorder, structured_request
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool


@dataclass(frozen=True)
class TranscriptLine:
    role: str
    content: str


@dataclass(frozen=True)
class Exchange:
    """The agent's latest answer, and the conversation ending with it. `summary` covers what was said before `lines`.

    `relayed` are the texts that tools told the agent. What the answer repeats of them is no promise. `said_at` is the
    business's local time of the answer; without it, no time is read from the answer.
    """

    answer: str
    lines: Sequence[TranscriptLine]
    summary: str = ""
    relayed: Sequence[str] = ()
    said_at: datetime | None = None

    @property
    def said_before(self) -> list[str]:
        """The agent's earlier messages, which were judged when they were sent."""
        said = [line.content for line in self.lines if line.role == "agent"]
        return said[:-1] if said and said[-1] == self.answer else said


class Rule(StrEnum):
    """The reason why a mentioned tool does not fire: five exclusion rules, two of grammar, and the conditions."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FUTURE_STEP = "future_step"
    OFFER = "offer"
    SUBJECT = "subject"
    NEGATION = "negation"
    QUOTATION = "quotation"
    CONDITION = "condition"


class ConditionReading(BaseModel):
    """One condition of a tool as read in the answer. Only JSON true counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    met: StrictBool


class ToolReading(BaseModel):
    """One tool whose subject the agent mentioned; evidence comes before the verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The agent's exact words in its latest answer."""
    tool: str
    conditions: list[ConditionReading]
    rule: Rule | None
    """The rule that holds the tool back; null if every condition is met."""


def _text_or_none(value: object) -> object:
    return value if isinstance(value, str) else None


class Unserved(BaseModel):
    """A commitment that no tool serves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The agent's exact words in its latest answer."""
    what: str
    """The commitment in a few words."""
    # Optional, because not every model looks for it. A value of another type names no time, and spoils nothing else.
    at: Annotated[str | None, BeforeValidator(_text_or_none)] = None
    """The clear time that the answer names for it: 2026-11-27T10:00, or 2026-11-27 for a day; null for "soon"."""


class Verdicts(BaseModel):
    """The tools that the agent mentioned."""

    model_config = ConfigDict(frozen=True)

    verdicts: list[ToolReading]


class Detection(Verdicts):
    """The tools that the agent mentioned, and its other commitments."""

    model_config = ConfigDict(extra="forbid")

    # Optional, because not every model looks for them.
    unserved: list[Unserved] = []


AS_ABOVE = "as above"
# The prompt has the newest told texts, cut. The check of quotes reads all of them whole.
MOST_RELAYED, MAX_RELAYED = 3, 400


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
    """Variables of templates/prompts/detect. `messages` is empty for tools without history.

    `summary` covers what was said before `messages`. Commitments served by a tool in `elsewhere`, which another call
    asks about, are not unserved.
    """

    tools: list[ToolLine]
    messages: list[TranscriptLine]
    answer: str
    summary: str = ""
    relayed: list[str] = field(default_factory=list)
    now: str = ""
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
    relayed: Sequence[str] = (),
    said_at: datetime | None = None,
    elsewhere: Sequence[CompiledTool] | None = None,
) -> Detection:
    """Ask the model which of the tools the agent committed to in `answer`. Raises LlmError.

    With `elsewhere`, the tools that another call asks about, it also asks for commitments that no tool serves, and for
    their times if it is told when the answer was given. Readings of other tools are dropped.
    """
    context = DetectContext(
        tools=tool_lines(tools),
        messages=list(lines),
        answer=answer,
        summary=summary,
        relayed=[text[:MAX_RELAYED] for text in relayed[-MOST_RELAYED:]],
        now=moment_of(said_at),
        asks_unserved=elsewhere is not None,
        elsewhere=tool_lines(elsewhere or []),
    )
    # The system prompt depends on the tools alone.
    stable = (tuple(context.tools), context.asks_unserved, tuple(context.elsewhere))
    request = structured_request("detect", context, model=model, max_output_tokens=2000, stable=stable)
    found = await client.structured(request, output=Verdicts if elsewhere is None else Detection, record=record)
    asked = {tool.name for tool in tools}
    return Detection(
        verdicts=[reading for reading in found.verdicts if reading.tool in asked],
        unserved=found.unserved if isinstance(found, Detection) else [],
    )


def moment_of(said_at: datetime | None) -> str:
    """The time of an answer as prompts have it; empty if it isn't known."""
    return f"{said_at:%A %d %B %Y, %H:%M}" if said_at is not None else ""


def tool_lines(tools: Iterable[CompiledTool]) -> list[ToolLine]:
    """The tools as prompts list them. A condition repeated by a later tool is listed as `as above`."""
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
