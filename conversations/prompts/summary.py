"""The summary skill: condenses a long conversation's older messages so that prompts can omit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from conversations.common.prompt_shapes import Line
from conversations.context.transcript import TranscriptMessage, as_line
from conversations.context.turn_context import TurnContext
from conversations.models import Summary
from llm.requests import structured_request
from llm.types import ChatRequest

MAX_OUTPUT_TOKENS = 1200


class KeptFact(BaseModel):
    """One fact of the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    field: str
    """A short key, the same for the same matter: date, time, party_size, order_number."""
    value: str


class ConversationSummary(BaseModel):
    """A summary of the conversation so far."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    facts: list[KeptFact]
    """Everything that may matter later, new or changed against the earlier summary."""
    text: str
    """What happened, in at most 120 words."""


@dataclass(frozen=True)
class SummaryContext:
    """Variables of templates/prompts/summary. `earlier` is the summary being replaced."""

    business_name: str
    earlier: str
    messages: list[Line]


def build_request(
    turn_context: TurnContext, *, messages: Sequence[TranscriptMessage], previous: Summary | None
) -> ChatRequest:
    """The request to summarize the earlier summary and the messages that follow it."""
    context = SummaryContext(
        business_name=turn_context.config.business_name,
        earlier=previous.as_text if previous else "",
        messages=[as_line(message) for message in messages],
    )
    model = turn_context.model("summary")
    return structured_request("summary", context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS)
