"""Typing indicators while a reply is being written."""

from __future__ import annotations

import pytest

from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.graph_server import Line, text
from tests.processes import ScriptedModel, until

pytestmark = pytest.mark.standing_worker


def test_telegram_shows_that_the_agent_writes(bot: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes.", ttft_ms=500)
    bot.write()
    bot.until_sent()
    assert bot.telegram.of("sendChatAction") == [{"chat_id": 77, "action": "typing"}]


def test_whatsapp_shows_it_at_the_customers_message(line: Line, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes.", ttft_ms=500)
    line.write(text())
    line.until_state("sent")
    assert line.graph.typing == ["wamid.1"]


def test_a_refused_indicator_delays_nothing(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.faults["sendChatAction"] = [None]
    model.script("reply", text="Yes.", ttft_ms=300)
    bot.write()
    until(lambda: len(bot.telegram.of("sendChatAction")) == 1)
    assert [one["text"] for one in bot.until_sent()] == ["Yes."]
