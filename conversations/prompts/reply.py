"""The reply skill: everything the agent knows when it answers (T03-T08)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from conversations.common.channels import traits_of
from conversations.common.prompt_shapes import Action, DirectivesView, Fact, Intent, Line, Procedure, Scenario, Section
from conversations.context.transcript import TranscriptMessage, as_line
from conversations.context.turn_context import TurnContext
from conversations.models import Directives, Event, MessageRole, Origin
from conversations.models.event import URGENT
from conversations.prompts.budget import within_budget
from llm.prompts import neutralize
from llm.requests import reply_request
from llm.types import ChatRequest
from projects.knowledge.answers import prompt_passages
from tenancy.prepared_queries import PreparedQuery
from tools.engine.function_calling.offer import Offer

# The longest reply; longer than any channel bears.
MAX_OUTPUT_TOKENS = 1500
NO_TOOLS = Offer()
# Whoever says it, the customer has their answer.
ANSWERS = (MessageRole.AGENT, MessageRole.OPERATOR)
# An agent that was told more at once tells the newest.
MOST_URGENT = 20


@dataclass(frozen=True)
class ReplyContext:
    """The variables of templates/prompts/reply. The first block is stable from turn to turn, so that providers can cache it."""

    agent_name: str
    business_name: str
    channel: str
    channel_rules: str
    style: str
    business_context: str
    scenarios: list[Scenario]
    steps_name_tools: bool
    procedures: list[Procedure]
    hours_variant: str
    intents: list[Intent]
    tools: str

    summary: str
    now: str
    hours_status: str
    directives: DirectivesView | None
    awaiting: str
    customer: list[Fact]
    actions: list[Action]
    sections: list[Section]
    knowledge: list[str]
    recovery: str
    correction: str
    urgent: list[str]
    is_follow_up: bool
    said_by_colleague: list[str]
    latest: list[Line]


def build_request(context: TurnContext, offer: Offer = NO_TOOLS) -> ChatRequest:
    """The request for a turn's reply: stable prompt, transcript, then what changes from turn to turn."""
    history, latest = _split(context)
    knowledge = _knowledge(context, latest)
    return within_budget(lambda kept: _request(context, offer, kept, latest, knowledge), history, beside=offer.weight)


def view_of(directives: Directives | None, *, beside: Sequence[Fact] = ()) -> DirectivesView | None:
    """Directives as prompts show them (D11). What the facts `beside` them say, they don't repeat: those are newer."""
    if directives is None:
        return None
    shown = {field.name for field in fields(DirectivesView)} - {"version", "known"}
    said = {fact.field for fact in beside}
    known = [Fact(**fact) for fact in directives.document["known"] if fact["field"] not in said]
    return DirectivesView(directives.version, **{name: directives.document[name] for name in shown}, known=known)


def _knowledge(context: TurnContext, latest: Sequence[TranscriptMessage]) -> list[str]:
    """What the articles say about the customer's latest words, where the project wants it in the prompt (T08)."""
    if not context.config.knowledge_in_prompt or not latest:
        return []
    return prompt_passages(context.project.pk, " ".join(message.content for message in latest))


def _request(
    context: TurnContext,
    offer: Offer,
    history: Sequence[TranscriptMessage],
    latest: Sequence[TranscriptMessage],
    knowledge: list[str],
) -> ChatRequest:
    return reply_request(
        context_of(context, offer, latest=latest, knowledge=knowledge),
        history=[_as_chat(message) for message in history],
        model=context.model("reply"),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(context.project.agent_version_id, context.conversation.channel, context.status.variant, offer.addendum),
    )


def context_of(
    context: TurnContext, offer: Offer, *, latest: Sequence[TranscriptMessage] = (), knowledge: Sequence[str] = ()
) -> ReplyContext:
    """What the prompt's templates are filled with, in the running transaction."""
    config, conversation = context.config, context.conversation
    return ReplyContext(
        agent_name=config.agent_name,
        business_name=config.business_name,
        channel=conversation.channel,
        channel_rules=traits_of(conversation.channel).rules,
        style=config.style,
        business_context=config.business_context,
        scenarios=context.scenarios,
        steps_name_tools=any(step.tools for scenario in context.scenarios for step in scenario.steps),
        procedures=context.procedures,
        hours_variant=context.status.variant,
        intents=context.intents,
        tools=offer.addendum,
        summary=context.summary,
        now=context.status.clock,
        hours_status=context.status.line,
        directives=view_of(conversation.directives, beside=context.facts),
        awaiting=context.awaiting,
        customer=context.facts,
        actions=context.actions,
        sections=context.prompt_sections,
        knowledge=list(knowledge),
        recovery=conversation.recovery,
        correction=conversation.correction,
        urgent=_urgent(context),
        is_follow_up=context.turn.origin == Origin.FOLLOW_UP,
        said_by_colleague=_said_by_colleague(context),
        latest=[as_line(message) for message in latest],
    )


def _split(context: TurnContext) -> tuple[list[TranscriptMessage], list[TranscriptMessage]]:
    """The transcript before, and the customer's messages that this turn answers: its own, and those it took over."""
    answered = max((one.turn for one in _earlier(context) if one.role in ANSWERS), default=0)
    latest = [one for one in context.messages if one.role == MessageRole.USER and one.turn > answered]
    split_off = {one.seq for one in latest}
    before = [one for one in context.messages if one.seq not in split_off and one.role != MessageRole.SYSTEM]
    return before, latest


def _said_by_colleague(context: TurnContext) -> list[str]:
    """What a colleague has said since the agent spoke last: it takes the conversation up where they left it."""
    said = [one for one in context.messages if one.role in ANSWERS]
    own = max((place for place, one in enumerate(said) if one.role == MessageRole.AGENT), default=-1)
    return [one.content for one in said[own + 1 :]]


def _earlier(context: TurnContext) -> list[TranscriptMessage]:
    return [message for message in context.messages if message.turn < context.turn.seq]


# Read when the turn is marked as begun already: whoever tells it more meanwhile has waited for that, or was waited for.
TOLD = PreparedQuery(
    lambda conversation: Event.objects.filter(conversation_id=conversation, idn=URGENT).order_by("-seq")[:MOST_URGENT],
    kinds=(UUID,),
)


def _urgent(context: TurnContext) -> list[str]:
    """Urgent messages that no reply has told yet: those of this turn, and of turns that it took over."""
    told = context.replied or 0
    payloads = [event.payload for event in reversed(TOLD(context.conversation.pk))]
    return [_line_of(payload) for payload in payloads if payload.get("text") and payload.get("told_by", 0) > told]


def _line_of(payload: dict[str, Any]) -> str:
    return f"(late) {payload['text']}" if payload.get("is_late") else str(payload["text"])


def _as_chat(message: TranscriptMessage) -> dict[str, str]:
    role = "user" if message.role == MessageRole.USER else "assistant"
    return {"role": role, "content": neutralize(message.content)}
