"""The extraction skill: finds the open tasks of a conversation, by the project's todo types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from llm.requests import structured_request
from llm.types import ChatRequest, ModelSpec
from projects.models.agent_config import Skill
from todos.models import TodoType
from tools.engine.skills.arguments import KnownFact
from tools.engine.skills.detect import TranscriptLine

SKILL: Skill = "extract"
MAX_OUTPUT_TOKENS = 2000


class Finding(BaseModel):
    """One thing that is left to be done."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    quote: str
    """The exact words of the conversation that it comes from, one sentence of one message."""
    type: str
    """The name of its type, as listed."""
    description: str
    """What is to be done, for whom, with every detail that it takes: who does it has not read the conversation."""
    title: str
    """The same in at most 60 characters, for a list: what and for whom, such as “Call Anna back about the allergy”."""
    recipients: list[str]
    """E-mail addresses besides the customer's own that have to be written to, as they stand in the conversation; usually none."""


class Findings(BaseModel):
    """The todos that are left to be done."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    todos: list[Finding]


@dataclass(frozen=True)
class TypeLine:
    name: str
    description: str


@dataclass(frozen=True)
class ToolUse:
    """The use of a tool in the conversation; `note` says how it ended."""

    name: str
    state: str
    note: str


@dataclass(frozen=True)
class NotedLine:
    """An existing todo of the conversation."""

    quote: str
    description: str


@dataclass(frozen=True)
class ExtractContext:
    """The variables of templates/prompts/extract. `undecided` are promises without a type; the todos in `noted` are
    settled.
    """

    business_name: str
    now: str
    types: list[TypeLine]
    known: list[KnownFact]
    acts: list[ToolUse]
    noted: list[NotedLine]
    undecided: list[str]
    summary: str
    messages: list[TranscriptLine]


def build_request(context: ExtractContext, *, model: ModelSpec) -> ChatRequest:
    """The request for the findings of one conversation."""
    stable = (context.business_name, tuple(context.types))
    return structured_request(SKILL, context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS, stable=stable)


def type_lines(types: Iterable[TodoType]) -> list[TypeLine]:
    return [TypeLine(name=one.name, description=one.description) for one in types]
