"""The thoughts skill: KEY DIRECTIVES for the next reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from conversations.common.prompt_shapes import Action, DirectivesView, Fact, Intent, Line, Procedure, Scenario, Section
from conversations.context.transcript import TranscriptMessage, as_line
from conversations.context.turn_context import TurnContext
from conversations.context.urgent_messages import urgent_messages
from conversations.prompts.budget import within_budget
from conversations.prompts.reply import view_of
from llm.requests import structured_request
from llm.types import ChatRequest
from projects.agents.hours_text import business_text

MAX_OUTPUT_TOKENS = 1500


class KnownField(BaseModel):
    """One fact the agent may rely on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    value: str


class KeyDirectives(BaseModel):
    """Instructions for the next reply."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str
    """Number and title of the scenario."""
    step: str
    """Number and text of the step to do next."""
    goal: str
    """What the next reply should reach, in one sentence."""
    instructions: list[str]
    """At most five ordered steps."""
    to_collect: list[str]
    """Fields that the scenario still needs."""
    known: list[KnownField]
    """Facts the agent may rely on."""
    tools_pending: list[str]
    """Tools whose result is awaited."""
    avoid: list[str]
    """What must not be said or done."""


@dataclass(frozen=True)
class ThoughtsContext:
    """Variables of templates/prompts/thoughts: the full supervisor context."""

    agent_name: str
    business_name: str
    business_context: str
    scenarios: list[Scenario]
    procedures: list[Procedure]
    hours_variant: str
    intents: list[Intent]
    now: str
    hours_status: str
    channel: str
    known: list[Fact]
    agreed: list[str]
    actions: list[Action]
    sections: list[Section]
    urgent: list[Line]
    taken_up: list[Line]
    recovery: str
    previous: DirectivesView | None
    summary: str
    messages: list[Line]


def build_request(turn_context: TurnContext) -> ChatRequest:
    """The request for a turn's directives, with the full supervisor context."""
    return within_budget(lambda kept: _request(turn_context, kept), turn_context.messages)


def _request(turn_context: TurnContext, messages: Sequence[TranscriptMessage]) -> ChatRequest:
    config = turn_context.config
    urgent = urgent_messages(turn_context.urgent, replied=turn_context.turn.seq, before=turn_context.replied)
    context = ThoughtsContext(
        agent_name=config.agent_name,
        business_name=config.business_name,
        business_context=business_text(config),
        scenarios=turn_context.scenarios,
        procedures=turn_context.procedures,
        hours_variant=turn_context.status.variant,
        intents=turn_context.intents,
        now=turn_context.status.clock,
        hours_status=turn_context.status.line,
        channel=turn_context.conversation.channel,
        known=turn_context.customer_facts,
        agreed=turn_context.agreed(shown=messages),
        actions=turn_context.actions,
        sections=turn_context.prompt_sections,
        urgent=urgent.untold,
        taken_up=urgent.taken_up,
        recovery=turn_context.conversation.recovery,
        previous=view_of(turn_context.conversation.directives),
        summary=turn_context.summary,
        messages=[as_line(message) for message in messages],
    )
    model = turn_context.model("thoughts")
    return structured_request(
        "thoughts",
        context,
        model=model,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(turn_context.project.agent_version_id, turn_context.status.variant),
    )
