"""Channel traits: reply length, supported markup and follow-up delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from conversations.models import Channel
from projects.models.agent_config import AgentConfig, ChannelKind, NewerMessage
from tools.engine.business_state import normalize_channel


class Markup(StrEnum):
    """The markup a channel displays. The value is the rule as the prompt states it."""

    SPOKEN = (
        "It is read aloud: plain sentences as one says them, without markup, lists, links or emoji. "
        "Spell out what the ear needs."
    )
    PLAIN = "Plain text: no markup is shown, and links stand as they are."
    LIGHT = "Of markup only *bold* and _italic_ are shown; links stand as they are."


@dataclass(frozen=True)
class Traits:
    """The properties of one channel. `longest_reply` is in characters; `follow_up` is the silence after which the agent
    writes again.
    """

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
        """The rules on length and markup, for the reply prompt."""
        return f"A reply has at most {self.longest_reply} characters. {self.markup.value}"


HALF_HOUR = timedelta(minutes=30)

# A web call is treated as a phone call. API clients queue: they pair each answer with its question.
TRAITS: Mapping[str, Traits] = {
    Channel.PHONE: Traits("voice", 400, Markup.SPOKEN, timedelta(seconds=20)),
    Channel.CHAT: Traits("text", 1200, Markup.PLAIN, HALF_HOUR),
    Channel.PORTAL: Traits("text", 1200, Markup.PLAIN, HALF_HOUR),
    Channel.TELEGRAM: Traits("text", 1000, Markup.LIGHT, HALF_HOUR),
    Channel.WHATSAPP: Traits("text", 1000, Markup.LIGHT, HALF_HOUR),
    Channel.SMS: Traits("text", 320, Markup.PLAIN, HALF_HOUR),
    # Nobody waits at a mailbox, so that silence means nothing.
    Channel.EMAIL: Traits("text", 3000, Markup.PLAIN, timedelta(0)),
    Channel.API: Traits("text", 1200, Markup.PLAIN, HALF_HOUR, newer_message="queue"),
}


def traits_of(channel: str) -> Traits:
    return TRAITS[normalize_channel(channel)]


def follow_up_delay(config: AgentConfig, channel: str) -> timedelta | None:
    """The silence after which the agent writes again, or None if it never does."""
    traits = traits_of(channel)
    minutes = config.follow_up_minutes.get(traits.kind)
    delay = traits.follow_up if minutes is None else timedelta(minutes=minutes)
    return delay if delay and config.follow_up_limit else None


def is_scored(config: AgentConfig, channel: str) -> bool:
    """True if conversations on this channel are scored: voice always, other channels if configured."""
    return traits_of(channel).is_voice or channel in config.score_quality_on
