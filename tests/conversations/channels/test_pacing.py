"""Limits of a provider: the account's other parts wait, too, each for its turn, and no worker does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.channels.pacing import DISTANCE, next_turn, pause_account
from conversations.models import ChannelLink, Chat
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.graph_server import Line, text
from tests.processes import ScriptedModel, until
from tools.engine.execution.outcome import Outcome

pytestmark = pytest.mark.standing_worker

LIMITED = (429, {"ok": False, "error_code": 429, "description": "Too Many", "parameters": {"retry_after": 3}})


def test_a_limit_holds_back_the_other_chats(bot: Bot, worker: object, model: ScriptedModel) -> None:
    """The second chat's reply doesn't try before the pause is over, and loses no attempt."""
    bot.telegram.faults["sendMessage"] = [LIMITED]
    bot.write(chat=77)
    paused_until = until(lambda: bot.rows(ChannelLink)[0].paused_until, what="the pause")
    bot.write(chat=78)
    until(lambda: len(bot.effects()) == 2, what="the second reply")
    until(lambda: bot.receipts() == [("sent", "")] * 2, what=f"both sent, not {bot.receipts()}")
    assert sorted(effect.attempts for effect in bot.effects()) == [1, 2]
    assert all(effect.started_at >= paused_until for effect in bot.effects())
    assert len(bot.telegram.of("sendMessage")) == 3


@pytest.mark.slow
def test_a_burst_over_the_providers_limit_goes_out_whole(bot: Bot, worker: object, model: ScriptedModel) -> None:
    """Also at a pace above the limit: none is lost, none is sent twice."""
    bot.telegram.per_second = 8
    for chat in range(1_000, 1_120):
        bot.write(chat=chat)
    bot.until_receipts(*["sent"] * 120)
    assert len(bot.telegram.delivered) == len({one["chat_id"] for one in bot.telegram.delivered}) == 120
    assert sum(effect.attempts for effect in bot.effects()) == len(bot.telegram.of("sendMessage"))


def test_each_part_has_a_turn_of_its_own(bot: Bot) -> None:
    bot.write()
    now, [chat] = timezone.now(), bot.rows(Chat)
    with bot.tenant.tx():
        assert next_turn(chat, now=now, has_turn=False) is None
        pause_account(chat, Outcome.not_sent("Limited.", retry_after_seconds=5.0), now=now)
        turns = [next_turn(chat, now=now, has_turn=False) for _ in range(3)]
        later = now + timedelta(seconds=5, milliseconds=1)
        assert turns == [now + timedelta(seconds=5) + DISTANCE * number for number in (1, 2, 3)]
        assert next_turn(chat, now=later, has_turn=True) is None
        assert next_turn(chat, now=later, has_turn=False) == turns[2] + DISTANCE


def test_a_longer_pause_is_not_shortened(bot: Bot) -> None:
    bot.write()
    now, [chat] = timezone.now(), bot.rows(Chat)
    with bot.tenant.tx():
        for seconds in (60.0, 2.0):
            pause_account(chat, Outcome.not_sent("Limited.", retry_after_seconds=seconds), now=now)
        assert ChannelLink.objects.get().paused_until == now + timedelta(seconds=60)


def test_a_limit_of_one_chat_holds_back_no_other(line: Line, worker: object, model: ScriptedModel) -> None:
    line.graph.faults = [(400, {"error": {"code": 131056, "message": "pair rate limit"}})]
    line.write(text())
    line.until_state("sent")
    [link] = line.rows(ChannelLink)
    assert link.paused_until is None
