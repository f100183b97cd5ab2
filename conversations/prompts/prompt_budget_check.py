"""How much room a business's settings leave for the conversation in the request for a reply (T02, T08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone

from conversations.common.prompt_shapes import Intent
from conversations.context.turn_context import TurnContext
from conversations.models import Channel, Conversation, Turn
from conversations.prompts.budget import LEAST_BYTES, PROMPT_BYTES
from conversations.prompts.reply import ReplyContext, context_of
from llm.prompts import render
from projects.agents.model_choice import operator_endpoint
from projects.agents.prompt_size import PromptSize
from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import Offer, read_offers

# The parts that a business writes itself, as they are when it writes nothing.
NOTHING: Mapping[str, Any] = {"business_context": "", "scenarios": [], "procedures": [], "intents": [], "tools": ""}


def weigh_reply(project: Project, config: AgentConfig) -> PromptSize:
    """What a reply's request weighs when nothing is said yet, in the running transaction: on the channel with the heaviest
    tools, in the longer variant of the intents. A part weighs what the request would weigh less without it.
    """
    offers = read_offers(Trigger.TURN, project, config, channels=Channel.values)
    channel = max(offers, key=lambda one: _weight_of(offers[one]))
    context = _context(project, config, channel=channel, offer=offers[channel])
    whole = _bytes(context)
    parts = {name: whole - _bytes(replace(context, **{name: nothing})) for name, nothing in NOTHING.items()}
    parts = {"rules": whole - sum(parts.values()), **parts}
    parts["tools"] += offers[channel].weight
    return PromptSize(parts, channel=channel, limit=PROMPT_BYTES, reserve=LEAST_BYTES)


def _weight_of(offer: Offer) -> int:
    return offer.weight + len(offer.addendum.encode())


def _context(project: Project, config: AgentConfig, *, channel: str, offer: Offer) -> ReplyContext:
    """Of a conversation that nobody has begun."""
    conversation = Conversation(project=project, channel=channel)
    turn_context = TurnContext(
        conversation=conversation,
        turn=Turn(conversation=conversation, seq=1),
        project=project,
        config=config,
        at=timezone.now(),
        summary="",
        messages=(),
        fields=(),
        effects=(),
        endpoint=operator_endpoint(),
    )
    variants = [
        [Intent(one.name, text) for one, text in zip(config.intents, texts, strict=True)] for texts in _texts(config)
    ]
    longer = max(variants, key=lambda intents: sum(len(intent.instruction.encode()) for intent in intents))
    return replace(context_of(turn_context, offer), intents=longer)


def _texts(config: AgentConfig) -> tuple[list[str], list[str]]:
    """What the intents say while the business is open, and while it is closed."""
    return [one.working_hours for one in config.intents], [one.non_working_hours for one in config.intents]


def _bytes(context: ReplyContext) -> int:
    # Without a name for its stable part: these settings may never be saved.
    prompt = render("reply", context)
    return len(prompt.system.encode()) + len(prompt.user.encode())
