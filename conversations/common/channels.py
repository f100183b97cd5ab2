"""What each channel bears: how long a reply may be, what of its markup is shown, how soon silence is noticed (N12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from conversations.models import Channel
from projects.models.agent_config import AgentConfig, ChannelKind, NewerMessage
from tools.engine.business_state import normalize_channel


class Markup(StrEnum):
    """What may stand in a reply besides words; the value is the rule as the prompt says it."""

    SPOKEN = (
        "It is read aloud: plain sentences as one says them, without markup, lists, links or emoji. "
        "Spell out what the ear needs."
    )
    PLAIN = "Plain text: no markup is shown, and links stand as they are."
    LIGHT = "Of markup only *bold* and _italic_ are shown; links stand as they are."


@dataclass(frozen=True)
class Traits:
    """One channel. `longest_reply` is in characters, `follow_up` the silence before the agent writes again."""

    kind: ChannelKind
    longest_reply: int
    markup: Markup
    follow_up: timedelta
    newer_message: NewerMessage = "interrupt"

    @property
    def is_voice(self) -> bool:
        return self.kind == "voice"

    @property
    def rules(self) -> str:
        """Length and markup as the reply's prompt says them."""
        return f"A reply has at most {self.longest_reply} characters. {self.markup.value}"


HALF_AN_HOUR = timedelta(minutes=30)

# A webcall is read as a phone call (N14). A program that calls the API pairs each answer with its question.
TRAITS: Mapping[str, Traits] = {
    Channel.PHONE: Traits("voice", 400, Markup.SPOKEN, timedelta(seconds=20)),
    Channel.CHAT: Traits("text", 1200, Markup.PLAIN, HALF_AN_HOUR),
    Channel.PORTAL: Traits("text", 1200, Markup.PLAIN, HALF_AN_HOUR),
    Channel.TELEGRAM: Traits("text", 1000, Markup.LIGHT, HALF_AN_HOUR),
    Channel.WHATSAPP: Traits("text", 1000, Markup.LIGHT, HALF_AN_HOUR),
    Channel.SMS: Traits("text", 320, Markup.PLAIN, HALF_AN_HOUR),
    Channel.API: Traits("text", 1200, Markup.PLAIN, HALF_AN_HOUR, newer_message="queue"),
}


def traits_of(channel: str) -> Traits:
    """The traits of a channel."""
    return TRAITS[normalize_channel(channel)]


def follow_up_delay(config: AgentConfig, channel: str) -> timedelta | None:
    """How long the customer may be silent before the agent writes again. None: it never does."""
    traits = traits_of(channel)
    minutes = config.follow_up_minutes.get(traits.kind)
    delay = traits.follow_up if minutes is None else timedelta(minutes=minutes)
    return delay if delay and config.follow_up_limit else None


def is_scored(config: AgentConfig, channel: str) -> bool:
    """Whether the quality of a conversation on this channel is scored: voice always is, others by setting (T12)."""
    return traits_of(channel).is_voice or channel in config.score_quality_on
