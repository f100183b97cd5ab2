"""Channels as a table of traits."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest

from conversations.channels import TRAITS, follow_up_delay, traits_of
from conversations.models import Channel
from projects.agent import AgentConfig, ChannelName
from tests.pipeline.conftest import begin, configure, prompts_of
from tools.catalogue import compile_tools

PLAIN = AgentConfig(agent_name="A", business_name="B")


def test_every_channel_has_traits() -> None:
    """T01: the five channels of the source among them."""
    assert {"phone", "chat", "telegram", "whatsapp", "webcall"} <= set(Channel.values)
    assert {channel: traits_of(channel) for channel in Channel.values}.keys() == {*TRAITS, "webcall"}


def test_settings_name_the_same_channels() -> None:
    assert set(get_args(ChannelName)) == set(Channel.values)


def test_a_webcall_is_a_phone_call() -> None:
    """N14"""
    assert traits_of("webcall") == traits_of("phone")
    assert traits_of("webcall").is_voice


def test_a_call_is_transferred_on_a_webcall_and_not_in_a_chat(tenant) -> None:
    """N14"""
    with tenant.tx():
        offered = {
            channel: {tool.name for tool in compile_tools(tenant.project, channel=channel) if tool.is_offered}
            for channel in ("webcall", "chat")
        }
    assert "transfer_call_tool" in offered["webcall"] - offered["chat"]


@pytest.mark.parametrize("channel", Channel.values)
def test_the_reply_s_prompt_says_length_and_markup(channel: str, tenant) -> None:
    talk = begin(tenant, channel=channel)
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert f"at most {traits_of(channel).longest_reply} characters" in stable
    assert traits_of(channel).markup.value in stable


def test_silence_is_noticed_sooner_on_the_phone() -> None:
    """N12: phone before chat."""
    assert follow_up_delay(PLAIN, "phone") == timedelta(seconds=20)
    assert follow_up_delay(PLAIN, "webcall") < follow_up_delay(PLAIN, "chat") == timedelta(minutes=30)


def test_both_delays_can_be_set() -> None:
    """N12: by kind of channel; zero is never."""
    config = PLAIN.model_copy(update={"follow_up_minutes": {"voice": 1, "text": 0}})
    assert follow_up_delay(config, "phone") == timedelta(minutes=1)
    assert follow_up_delay(config, "whatsapp") is None


def test_a_project_s_policy_wins_over_the_channel_s(tenant) -> None:
    configure(tenant, newer_message="queue")
    talk = begin(tenant)
    first, second = talk.say("One"), talk.say("Two")
    assert [talk.turn(turn)["status"] for turn in (first, second)] == ["queued", "queued"]
