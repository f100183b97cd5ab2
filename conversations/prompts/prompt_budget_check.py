"""The room that a project's settings leave for the transcript in a reply request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone

from conversations.common.prompt_shapes import Intent
from conversations.context.turn_context import TurnContext
from conversations.models import Channel, Conversation, Turn
from conversations.prompts.budget import MAX_PROMPT_BYTES, MIN_TRANSCRIPT_BYTES
from conversations.prompts.reply import ReplyContext, context_of
from llm.prompts import render
from projects.agents.model_choice import operator_endpoint
from projects.agents.prompt_size import PromptSize
from projects.models import Project
from projects.models.agent_config import AgentConfig
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import Offer, read_offers
from tools.engine.keyed_cache import KeyedCache

# The parts written by the business, in their empty state.
EMPTY_PARTS: Mapping[str, Any] = {"business_context": "", "scenarios": [], "procedures": [], "intents": [], "tools": ""}


def weigh_reply(project: Project, config: AgentConfig) -> PromptSize:
    """The size of a reply request before anything is said, on the channel with the largest tools and with the longer
    variant of the intents. Runs in the current transaction.

    The size of a part is what the request would shrink by without it.
    """
    offers = read_offers(Trigger.TURN, project, config, channels=Channel.values)
    channel = max(offers, key=lambda name: _weight_of(offers[name]))
    context = _context(project, config, channel=channel, offer=offers[channel])
    # The time of day doesn't change a size by more than a few bytes.
    written = replace(context, now="", hours_status="")
    parts = dict(_parts.get(project.pk, written, lambda: _parts_of(context)))
    parts["tools"] += offers[channel].weight
    return PromptSize(parts, channel=channel, limit=MAX_PROMPT_BYTES, reserve=MIN_TRANSCRIPT_BYTES)


# The pages of the settings weigh the same settings each time they are shown.
_parts: KeyedCache[Mapping[str, int]] = KeyedCache(max_entries=200)


def _parts_of(context: ReplyContext) -> Mapping[str, int]:
    """The bytes of each part of the prompt."""
    whole = _bytes(context)
    parts = {name: whole - _bytes(replace(context, **{name: empty})) for name, empty in EMPTY_PARTS.items()}
    return {"rules": whole - sum(parts.values()), **parts}


def _weight_of(offer: Offer) -> int:
    return offer.weight + len(offer.addendum.encode())


def _context(project: Project, config: AgentConfig, *, channel: str, offer: Offer) -> ReplyContext:
    """The reply context of an empty conversation."""
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
    """The intents' instructions, for open and for closed hours."""
    return [intent.working_hours for intent in config.intents], [intent.non_working_hours for intent in config.intents]


def _bytes(context: ReplyContext) -> int:
    # No cache key for the stable part: these settings may never be saved.
    prompt = render("reply", context)
    return len(prompt.system.encode()) + len(prompt.user.encode())
