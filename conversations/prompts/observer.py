"""The observer's skill: what the latest exchange reveals about the customer (T11, T12)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from conversations.common.channels import is_scored
from conversations.common.prompt_shapes import ExtraField, Fact, Line
from conversations.context.turn_context import TurnContext
from conversations.prompts.reply import ANSWERS
from llm.requests import structured_request
from llm.types import ChatRequest

# The latest exchange: all since the answer before, and so many messages at least.
LATEST = 4
# What the exchange is read with. Earlier ones were observed in their own turn; only a score looks at the whole.
BEFORE = 4
MAX_OUTPUT_TOKENS = 800


class Confidence(StrEnum):
    STATED = "stated"
    INFERRED = "inferred"


class ObservedFact(BaseModel):
    """One fact about the customer, with the words it rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The customer's exact words that say it."""
    field: str
    """The field's key, one of those listed in the rules."""
    value: str
    """The value, as the customer put it."""
    confidence: Confidence


class Quality(BaseModel):
    """How the conversation goes for the customer (D12)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    """Why, in one sentence."""
    score: Annotated[int, Field(ge=1, le=10)]


class Observation(BaseModel):
    """What the latest exchange reveals: only what is new or changed against KnownFacts."""

    # A model that rates though nobody asked it to has not misread the exchange.
    model_config = ConfigDict(extra="ignore", frozen=True)

    facts: list[ObservedFact]


class RatedObservation(Observation):
    """What it reveals, and how the conversation goes."""

    model_config = ConfigDict(extra="forbid")

    quality: Quality | None


@dataclass(frozen=True)
class ObserverContext:
    """The variables of templates/prompts/observer."""

    business_name: str
    extra_fields: list[ExtraField]
    score_quality: bool
    known: list[Fact]
    summary: str
    messages: list[Line]
    latest: list[Line]


def output_of(turn_context: TurnContext) -> type[Observation]:
    """What is asked for; quality is scored on voice channels, and where the project says so (T12)."""
    return RatedObservation if _is_rated(turn_context) else Observation


def build_request(turn_context: TurnContext) -> ChatRequest:
    """The request for what a turn's exchange reveals, in the shape of `output_of`."""
    lines, is_rated, latest = turn_context.lines, _is_rated(turn_context), _latest(turn_context)
    context = ObserverContext(
        business_name=turn_context.config.business_name,
        extra_fields=[
            ExtraField(key=field.key, description=field.description) for field in turn_context.config.observer_fields
        ],
        score_quality=is_rated,
        known=turn_context.facts,
        summary=turn_context.summary,
        messages=lines[:-latest] if is_rated else lines[-latest - BEFORE : -latest],
        latest=lines[-latest:],
    )
    model = turn_context.model("observer")
    return structured_request(
        "observer",
        context,
        model=model,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(turn_context.project.agent_version_id, is_rated),
    )


def _latest(turn_context: TurnContext) -> int:
    """How many messages the latest exchange has: a reply that took others over answers all since the one before (T10)."""
    answers = [place for place, one in enumerate(turn_context.messages[:-1]) if one.role in ANSWERS]
    return max(LATEST, len(turn_context.messages) - 1 - answers[-1] if answers else len(turn_context.messages))


def _is_rated(turn_context: TurnContext) -> bool:
    """A turn is rated, not what a colleague answers."""
    return turn_context.turn.pk is not None and is_scored(turn_context.config, turn_context.conversation.channel)
