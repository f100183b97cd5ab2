"""The reply skill: the request for the agent's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from conversations.common.channels import traits_of
from conversations.common.prompt_shapes import (
    Action,
    DirectivesView,
    Fact,
    Intent,
    Line,
    Procedure,
    Scenario,
    Section,
    Step,
)
from conversations.context.pictures import FoundPicture, LatestFiles, find_files
from conversations.context.transcript import TranscriptMessage, as_line
from conversations.context.turn_context import TurnContext
from conversations.context.urgent_messages import URGENT_EVENTS, UrgentMessages, urgent_messages
from conversations.models import Directives, MessageRole, Origin
from conversations.prompts.budget import within_budget
from llm.prompts import neutralize, render_system
from llm.requests import reply_request
from llm.types import ChatRequest
from projects.agents.hours_text import business_text
from projects.knowledge.answers import prompt_passages
from tools.engine.function_calling.offer import Offer

SKILL = "reply"
# Above the limit of every channel.
MAX_OUTPUT_TOKENS = 1500
NO_OFFER = Offer()
# Messages of either role count as an answer to the customer.
ANSWERS = (MessageRole.AGENT, MessageRole.OPERATOR)


@dataclass(frozen=True)
class ReplyContext:
    """Variables of templates/prompts/reply. The first block is stable across turns, so that providers can cache it."""

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
    agreed: list[str]
    actions: list[Action]
    sections: list[Section]
    knowledge: list[str]
    recovery: str
    correction: str
    from_business: list[str]
    urgent: list[str]
    taken_up: list[Line]
    is_follow_up: bool
    said_by_colleague: list[str]
    unseen: list[str]
    latest: list[Line]


@dataclass(frozen=True)
class ReplyPrompt:
    """The request for a turn's reply, and the pictures that are still to be read."""

    request: ChatRequest
    pictures: Sequence[FoundPicture]


def build_prompt(context: TurnContext, offer: Offer = NO_OFFER) -> ReplyPrompt:
    """The prompt of a turn's reply: stable prompt, transcript, then the parts that change every turn."""
    history, latest = _split(context)
    knowledge, files = _knowledge(context, latest), find_files(context.conversation.pk, latest)
    request = within_budget(
        lambda kept: _request(context, offer, kept, latest, knowledge, files), history, extra_bytes=offer.weight
    )
    return ReplyPrompt(request, files.pictures)


def view_of(directives: Directives | None, *, facts: Sequence[Fact] = ()) -> DirectivesView | None:
    """Directives as prompts show them, without the known facts that `facts` repeats: those are newer."""
    if directives is None:
        return None
    shown = {field.name for field in fields(DirectivesView)} - {"version", "known"}
    known_fields = {fact.field for fact in facts}
    known = [Fact(**fact) for fact in directives.document["known"] if fact["field"] not in known_fields]
    return DirectivesView(directives.version, **{name: directives.document[name] for name in shown}, known=known)


def _knowledge(context: TurnContext, latest: Sequence[TranscriptMessage]) -> list[str]:
    """Knowledge passages matching the customer's latest messages, if the project includes them in prompts."""
    if not context.config.knowledge_in_prompt or not latest:
        return []
    return prompt_passages(context.project.pk, " ".join(message.content for message in latest))


def _request(
    context: TurnContext,
    offer: Offer,
    history: Sequence[TranscriptMessage],
    latest: Sequence[TranscriptMessage],
    knowledge: list[str],
    files: LatestFiles,
) -> ChatRequest:
    shown = context_of(context, offer, history=history, latest=latest, knowledge=knowledge, unseen=files.unseen)
    settings = (context.project.agent_version_id, context.conversation.channel, context.status.variant)
    request = reply_request(
        shown,
        history=[_as_chat(message) for message in history],
        model=context.model("reply"),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        stable=(*settings, offer.addendum, offer.replaced),
    )
    if not offer.tools:
        return request
    plain = _with_scenarios(replace(shown, tools=""), context.scenarios)
    return replace(request, system_without_tools=render_system(SKILL, plain, stable=(*settings, "", frozenset())))


def _with_scenarios(shown: ReplyContext, scenarios: list[Scenario]) -> ReplyContext:
    return replace(shown, scenarios=scenarios, steps_name_tools=_name_tools(scenarios))


def _name_tools(scenarios: Sequence[Scenario]) -> bool:
    return any(step.tools for scenario in scenarios for step in scenario.steps)


def context_of(
    context: TurnContext,
    offer: Offer,
    *,
    history: Sequence[TranscriptMessage] = (),
    latest: Sequence[TranscriptMessage] = (),
    knowledge: Sequence[str] = (),
    unseen: Sequence[str] = (),
) -> ReplyContext:
    """The variables of the prompt templates. Runs in the current transaction."""
    config, conversation, urgent = context.config, context.conversation, _urgent(context)
    scenarios = offered_steps(context.scenarios, offer)
    return ReplyContext(
        agent_name=config.agent_name,
        business_name=config.business_name,
        channel=conversation.channel,
        channel_rules=traits_of(conversation.channel).rules,
        style=config.style,
        business_context=business_text(config),
        scenarios=scenarios,
        steps_name_tools=_name_tools(scenarios),
        procedures=context.procedures,
        hours_variant=context.status.variant,
        intents=context.intents,
        tools=offer.addendum,
        summary=context.summary,
        now=context.status.clock,
        hours_status=context.status.line,
        directives=view_of(conversation.directives, facts=context.customer_facts),
        awaiting=context.awaiting,
        customer=context.customer_facts,
        agreed=context.agreed(shown=[*history, *latest]),
        actions=context.actions,
        sections=context.prompt_sections,
        knowledge=list(knowledge),
        recovery=conversation.recovery,
        correction=conversation.correction,
        from_business=urgent.from_business,
        urgent=urgent.results,
        taken_up=urgent.taken_up,
        is_follow_up=context.turn.origin == Origin.FOLLOW_UP,
        said_by_colleague=_operator_messages(context),
        unseen=list(unseen),
        latest=[as_line(message) for message in latest],
    )


def offered_steps(scenarios: Sequence[Scenario], offer: Offer) -> list[Scenario]:
    """The scenarios. A step may promise only what the agent can't call."""
    return [
        replace(scenario, steps=[replace(step, tools=_promised(step, offer)) for step in scenario.steps])
        for scenario in scenarios
    ]


def _promised(step: Step, offer: Offer) -> list[str]:
    return [tool for tool in step.tools if tool not in offer.replaced]


def _split(context: TurnContext) -> tuple[list[TranscriptMessage], list[TranscriptMessage]]:
    """The earlier transcript, and the customer messages this turn answers: its own and those of turns it superseded."""
    answered = max((message.turn for message in _earlier(context) if message.role in ANSWERS), default=0)
    latest = [message for message in context.messages if message.role == MessageRole.USER and message.turn > answered]
    split_off = {message.seq for message in latest}
    before = [
        message for message in context.messages if message.seq not in split_off and message.role != MessageRole.SYSTEM
    ]
    return before, latest


def _operator_messages(context: TurnContext) -> list[str]:
    """An operator's messages since the agent last spoke, so that the agent continues from there."""
    answers = [message for message in context.messages if message.role in ANSWERS]
    last_own = max((index for index, message in enumerate(answers) if message.role == MessageRole.AGENT), default=-1)
    return [message.content for message in answers[last_own + 1 :]]


def _earlier(context: TurnContext) -> list[TranscriptMessage]:
    return [message for message in context.messages if message.turn < context.turn.seq]


def _urgent(context: TurnContext) -> UrgentMessages:
    """The urgent messages for this turn.

    Read after the turn was marked as started. Urgent messages are stored under the conversation's lock, so each one is
    either stored before the mark and read here, or leads to a later turn.
    """
    return urgent_messages(
        URGENT_EVENTS(context.conversation.pk), replied=context.replied, before=context.replied_before
    )


def _as_chat(message: TranscriptMessage) -> dict[str, str]:
    role = "user" if message.role == MessageRole.USER else "assistant"
    return {"role": role, "content": neutralize(message.content)}
