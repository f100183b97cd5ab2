"""Channel traits."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest

from conversations.common.channels import TRAITS, follow_up_delay, traits_of
from conversations.models import Channel, Event
from projects.models.agent_config import AgentConfig, ChannelName
from tests.conversations.pipeline.conftest import begin, configure, prompts_of
from tools.engine.catalogue import compile_tools

URL = "/api/v1/conversations"
PLAIN = AgentConfig(agent_name="A", business_name="B")


@pytest.mark.requirement("T01")
def test_every_channel_has_traits() -> None:
    """Including phone, web call, chat, Telegram and WhatsApp."""
    assert {"phone", "chat", "telegram", "whatsapp", "webcall"} <= set(Channel.values)
    assert {channel: traits_of(channel) for channel in Channel.values}.keys() == {*TRAITS, "webcall"}


@pytest.mark.requirement("T01", "T02")
@pytest.mark.parametrize("channel", ["phone", "chat", "telegram", "whatsapp", "webcall"])
def test_a_message_on_any_channel_is_a_user_message(channel: str, tenant, api) -> None:
    """Posted over the API; the conversation starts on that channel."""
    body = {"channel": channel, "persona": {"external_id": "guest"}}
    url = f"/api/v1/conversations/{api.post(URL, body, content_type='application/json').json()['id']}/messages"
    assert api.post(url, {"content": "Hello"}, content_type="application/json").status_code == 202
    with tenant.tx():
        started, said = Event.objects.order_by("seq")[:2]
    assert (started.idn, started.payload) == ("conversation_started", {"channel": channel})
    assert (said.idn, said.payload["content"]) == ("user_message", "Hello")


def test_settings_name_the_same_channels() -> None:
    assert set(get_args(ChannelName)) == set(Channel.values)


@pytest.mark.requirement("N14")
def test_a_webcall_is_a_phone_call() -> None:
    assert traits_of("webcall") == traits_of("phone")
    assert traits_of("webcall").is_voice


@pytest.mark.requirement("N14")
def test_a_call_is_transferred_on_a_webcall_and_not_in_a_chat(tenant) -> None:
    with tenant.tx():
        offered = {
            channel: {tool.name for tool in compile_tools(tenant.project, channel=channel) if tool.is_offered}
            for channel in ("webcall", "chat")
        }
    assert "transfer_call_tool" in offered["webcall"] - offered["chat"]


@pytest.mark.parametrize("channel", Channel.values)
def test_the_reply_prompt_states_length_and_markup(channel: str, tenant) -> None:
    talk = begin(tenant, channel=channel)
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert f"at most {traits_of(channel).longest_reply} characters" in stable
    assert traits_of(channel).markup.value in stable


@pytest.mark.requirement("N12")
def test_follow_ups_come_sooner_on_the_phone() -> None:
    """Sooner than in a chat."""
    assert follow_up_delay(PLAIN, "phone") == timedelta(seconds=20)
    assert follow_up_delay(PLAIN, "webcall") < follow_up_delay(PLAIN, "chat") == timedelta(minutes=30)


@pytest.mark.requirement("N12")
def test_both_delays_can_be_set() -> None:
    """By kind of channel; zero disables them."""
    config = PLAIN.model_copy(update={"follow_up_minutes": {"voice": 1, "text": 0}})
    assert follow_up_delay(config, "phone") == timedelta(minutes=1)
    assert follow_up_delay(config, "whatsapp") is None


@pytest.mark.parametrize(("channel", "first"), [("api", "queued"), ("chat", "superseded"), ("phone", "superseded")])
def test_the_channel_sets_the_default_newer_message_policy(channel: str, first: str, tenant) -> None:
    """API clients pair each answer with its question; people get one answer to both messages."""
    talk = begin(tenant, channel=channel)
    turns = [talk.say(words) for words in ("One", "Two")]
    assert [talk.turn(turn)["status"] for turn in turns] == [first, "queued"]


def test_a_projects_policy_overrides_the_channels(tenant) -> None:
    configure(tenant, newer_message="queue")
    talk = begin(tenant)
    first, second = talk.say("One"), talk.say("Two")
    assert [talk.turn(turn)["status"] for turn in (first, second)] == ["queued", "queued"]
