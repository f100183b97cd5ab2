"""The draft skill: an answer to the customer that staff reads, changes and sends."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from conversations.common.channels import traits_of
from conversations.common.prompt_shapes import Action, Fact, Line, Procedure
from conversations.context.turn_context import TurnContext
from llm.requests import structured_request
from llm.types import ChatRequest, Deadlines
from projects.models.agent_config import Skill

SKILL = "draft"
# A draft sounds like the agent: tenants configure one model for both.
MODEL_OF: Skill = "reply"
MAX_OUTPUT_TOKENS = 1200
# Somebody waits for it.
DEADLINES = Deadlines(first_token_s=30.0, total_s=30.0)


class AnswerDraft(BaseModel):
    """An answer to the customer."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    answer: str
    """What the customer reads."""


@dataclass(frozen=True)
class DraftContext:
    """Variables of templates/prompts/draft. `begun` is what the operator has typed so far."""

    business_name: str
    channel: str
    style: str
    channel_rules: str
    business_context: str
    procedures: list[Procedure]

    summary: str
    now: str
    hours_status: str
    customer: list[Fact]
    agreed: list[str]
    actions: list[Action]
    knowledge: list[str]
    messages: list[Line]
    begun: str


def build_request(context: TurnContext, *, knowledge: list[str], begun: str) -> ChatRequest:
    """The request for the draft of one answer."""
    config, conversation = context.config, context.conversation
    shown = DraftContext(
        business_name=config.business_name,
        channel=conversation.channel,
        style=config.style,
        channel_rules=traits_of(conversation.channel).rules,
        business_context=config.business_context,
        procedures=context.procedures,
        summary=context.summary,
        now=context.status.clock,
        hours_status=context.status.line,
        customer=context.customer_facts,
        agreed=context.agreed(shown=context.messages),
        actions=context.actions,
        knowledge=knowledge,
        messages=context.lines,
        begun=begun,
    )
    return structured_request(
        SKILL,
        shown,
        model=context.model(MODEL_OF),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(context.project.agent_version_id, conversation.channel),
        deadlines=DEADLINES,
    )
