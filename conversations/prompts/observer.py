"""The observer skill: facts about the customer from the latest exchange, and the conversation's quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from conversations.common.channels import is_scored
from conversations.common.prompt_shapes import ExtraField, Fact, Line
from conversations.context.transcript import TranscriptMessage
from conversations.context.turn_context import TurnContext
from conversations.prompts.reply import ANSWERS
from llm.requests import structured_request
from llm.types import ChatRequest

# The latest exchange: everything since the previous answer, and at least this many messages.
MIN_LATEST = 4
# Messages of context before the exchange. Earlier ones were observed in their own turn; only scoring needs them all.
CONTEXT_MESSAGES = 4
MAX_OUTPUT_TOKENS = 800


class Confidence(StrEnum):
    STATED = "stated"
    INFERRED = "inferred"


class ObservedFact(BaseModel):
    """One fact about the customer, with its quote."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str
    """The customer's exact words that say it."""
    field: str
    """The field's key, one of those listed in the rules."""
    value: str
    """The value, as the customer put it."""
    confidence: Confidence


class Quality(BaseModel):
    """The quality of the conversation from the customer's point of view."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    """Why, in one sentence."""
    score: Annotated[int, Field(ge=1, le=10)]


class Observation(BaseModel):
    """New or changed facts in the latest exchange, compared with KnownFacts."""

    # Tolerate an unrequested rating; the facts are still valid.
    model_config = ConfigDict(extra="ignore", frozen=True)

    facts: list[ObservedFact]


class RatedObservation(Observation):
    """An observation with a quality score."""

    model_config = ConfigDict(extra="forbid")

    quality: Quality | None


@dataclass(frozen=True)
class ObserverContext:
    """Variables of templates/prompts/observer."""

    business_name: str
    extra_fields: list[ExtraField]
    score_quality: bool
    known: list[Fact]
    summary: str
    messages: list[Line]
    latest: list[Line]


def output_of(turn_context: TurnContext) -> type[Observation]:
    """The output model: quality is scored on voice channels, and on the others if the project enables it."""
    return RatedObservation if _is_rated(turn_context) else Observation


def build_request(turn_context: TurnContext) -> ChatRequest:
    """The request for a turn's observation, in the shape of `output_of`."""
    lines, is_rated, latest = turn_context.lines, _is_rated(turn_context), len(latest_exchange(turn_context.messages))
    context = ObserverContext(
        business_name=turn_context.config.business_name,
        extra_fields=[
            ExtraField(key=field.key, description=field.description) for field in turn_context.config.observer_fields
        ],
        score_quality=is_rated,
        known=turn_context.facts,
        summary=turn_context.summary,
        messages=lines[:-latest] if is_rated else lines[-latest - CONTEXT_MESSAGES : -latest],
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


def latest_exchange(messages: Sequence[TranscriptMessage]) -> Sequence[TranscriptMessage]:
    """The messages of the latest exchange. A reply to several messages answers all since the previous one."""
    answers = [index for index, message in enumerate(messages[:-1]) if message.role in ANSWERS]
    return messages[-max(MIN_LATEST, len(messages) - 1 - answers[-1] if answers else len(messages)) :]


def _is_rated(turn_context: TurnContext) -> bool:
    """True if the channel is scored. Messages answered by an operator, which have no turn, are never rated."""
    return turn_context.turn.pk is not None and is_scored(turn_context.config, turn_context.conversation.channel)
