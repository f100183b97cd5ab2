"""The session of a realtime model: the agent's instructions, its tools and its voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.common.channels import traits_of
from conversations.common.draft_settings import config_of
from conversations.common.queries import read_fields
from conversations.context.transcript import read_unsummarized
from conversations.context.turn_context import TurnContext
from conversations.models import Conversation, MessageRole, PersonaField, Turn
from conversations.prompts.reply import offered_steps
from conversations.prompts.session import guidance
from conversations.prompts.voice import VoiceContext, instructions
from conversations.voice.providers import PROVIDERS
from projects.agents.hours_text import business_text, hours_in_words
from projects.agents.model_choice import endpoint_of
from projects.agents.voice_settings import VoiceSettings, voice_settings
from projects.models import Project
from projects.records.attributes import resolve_attributes
from projects.widget.widgets import find_widget, theme_of
from tools.engine.function_calling.offer import Offer, collect_agent_tools

CALLERS_LANGUAGE = "Speak the caller's language."
BEGIN_IN = "Begin in {language}, and change to the caller's language when they speak another."


@dataclass(frozen=True)
class LiveSession:
    """A session of one provider. `config` is its whole configuration in the provider's form, with the others in it."""

    provider: str
    instructions: str
    tools: list[dict[str, Any]]
    voice: VoiceSettings
    config: dict[str, Any]


def build_session(conversation: Conversation, *, provider: str) -> LiveSession:
    """The session with which a realtime model becomes the agent, in the running transaction."""
    context = _context_of(conversation)
    voice = _voice_of(context.project, context.fields)
    offer = collect_agent_tools(context.project, channel=conversation.channel)
    form = PROVIDERS[provider]
    text = f"{instructions(_voice_context(context, offer, voice))}\n\n{guidance()}"
    tools = form.tools(offer)
    return LiveSession(provider, text, tools, voice, form.session(text, tools, voice))


def _context_of(conversation: Conversation) -> TurnContext:
    config = config_of(conversation)
    return TurnContext(
        conversation=conversation,
        turn=Turn(id=None, conversation=conversation, seq=conversation.last_turn),
        project=conversation.project,
        config=config,
        at=timezone.now(),
        summary="",
        messages=[one for one in read_unsummarized(conversation.pk) if one.role != MessageRole.SYSTEM],
        fields=read_fields(conversation, config),
        effects=(),
        endpoint=endpoint_of(conversation.project, config),
    )


def voice_of(conversation: Conversation) -> VoiceSettings:
    """How the agent speaks in this call."""
    return _voice_of(conversation.project, read_fields(conversation, config_of(conversation)))


def _voice_of(project: Project, fields: Sequence[PersonaField]) -> VoiceSettings:
    """The project's settings, with the widget's greeting and the caller's language where they have none."""
    voice = voice_settings(resolve_attributes(project))
    known = next((field.value for field in fields if field.key == "language"), "")
    greeting = voice.greeting
    if not greeting:
        greeting = theme_of(find_widget(project.pk)).greeting
    return voice.model_copy(update={"greeting": greeting, "language": voice.language or _code(known)})


def _code(language: str) -> str:
    return language.lower() if language.lower() in dict(settings.LANGUAGES) else ""


def _voice_context(context: TurnContext, offer: Offer, voice: VoiceSettings) -> VoiceContext:
    config = context.config
    scenarios = offered_steps(context.scenarios, offer)
    language = dict(settings.LANGUAGES).get(voice.language.partition("-")[0].lower(), voice.language)
    return VoiceContext(
        agent_name=config.agent_name,
        business_name=config.business_name,
        language=BEGIN_IN.format(language=language) if language else CALLERS_LANGUAGE,
        style=config.style,
        channel_rules=traits_of(context.conversation.channel).rules,
        greeting=voice.greeting,
        business_context=business_text(config),
        hours=hours_in_words(config.hours),
        scenarios=scenarios,
        steps_name_tools=any(step.tools for scenario in scenarios for step in scenario.steps),
        procedures=context.procedures,
        hours_variant=context.status.variant,
        intents=context.intents,
        tools=offer.addendum,
        now=context.status.clock,
        hours_status=context.status.line,
        customer=context.customer_facts,
        earlier=context.lines,
    )
