"""Replies on their way to Telegram: effects of the ledger, sent once and in order, with receipts."""

from __future__ import annotations

import pytest

from conversations.channels import telegram_api, whatsapp_api
from conversations.channels.telegram_api import BotAnswer
from conversations.channels.whatsapp_api import GraphAnswer
from conversations.handover.operators import answer, take_over
from conversations.models import Conversation, Receipt
from tests.conftest import member_of
from tests.conversations.channels.conftest import Bot
from tests.processes import ScriptedModel, until
from tools.engine.execution.outcome import Ending
from tools.models import EffectState

pytestmark = pytest.mark.standing_worker

BLOCKED = (403, {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"})
LIMITED = (429, {"ok": False, "error_code": 429, "description": "Too Many", "parameters": {"retry_after": 1}})


def test_the_reply_reaches_the_chat(bot: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes, at eight.")
    bot.write("Do you have a table?")
    assert bot.until_sent() == [{"chat_id": 77, "text": "Yes, at eight."}]
    bot.until_receipts("sent")
    [receipt] = bot.rows(Receipt)
    assert receipt.external_id == "901"
    [effect] = bot.effects()
    assert (effect.state, effect.delivery, effect.origin, effect.attempts) == ("done", "once", "channel", 1)


def test_a_long_reply_goes_out_in_order(bot: Bot, worker: object, model: ScriptedModel) -> None:
    sentences = [f"This is sentence {number:04d} of the reply." for number in range(250)]
    model.script("reply", text=" ".join(sentences))
    bot.write()
    bot.until_receipts("sent", "sent", "sent")
    sent = [one["text"] for one in bot.telegram.of("sendMessage")]
    assert " ".join(sent).split() == " ".join(sentences).split()
    assert all(len(text) <= 4096 and text.endswith(".") for text in sent)


def test_a_limit_of_telegram_postpones_the_message(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.faults["sendMessage"] = [LIMITED, LIMITED]
    bot.write()
    bot.until_receipts("sent")
    [effect] = bot.effects()
    assert (effect.attempts, effect.state) == (3, EffectState.DONE)


def test_a_bot_that_was_blocked_is_told_in_words(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.faults["sendMessage"] = [BLOCKED]
    bot.write()
    assert bot.until_receipts("failed") == [("failed", "The customer has blocked the bot.")]


def test_the_transcript_says_how_far_a_message_came(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.faults["sendMessage"] = [BLOCKED]
    bot.write()
    bot.until_receipts("failed")
    [conversation] = bot.rows(Conversation)
    listed = bot.api.get(f"/api/v1/conversations/{conversation.pk}/messages").json()["results"]
    assert ["receipt" in message for message in listed] == [False, True]
    assert listed[1]["receipt"] == {"state": "failed", "reason": "The customer has blocked the bot."}


def test_an_answer_that_never_came_is_unknown_and_not_sent_again(
    bot: Bot, worker: object, model: ScriptedModel
) -> None:
    bot.telegram.faults["sendMessage"] = [None]
    bot.write()
    bot.until_receipts("unknown")
    [effect] = bot.effects()
    assert (effect.state, len(bot.telegram.of("sendMessage"))) == ("unknown", 1)
    assert (
        bot.api.post(
            f"/api/v1/effects/{effect.pk}/resolve", {"happened": False}, content_type="application/json"
        ).status_code
        == 200
    )
    bot.until_receipts("sent")
    assert len(bot.telegram.of("sendMessage")) == 2


def test_an_operators_answer_reaches_the_chat(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.write()
    bot.until_sent()
    [conversation] = bot.rows(Conversation)
    colleague = member_of(bot.tenant, "operator")
    with bot.tenant.tx():
        take_over(conversation.pk, by=colleague)
        answer(conversation.pk, "I am Carla. How can I help?", by=colleague)
    sent = [one["text"] for one in bot.until_sent(3)]
    assert sent[-1] == "I am Carla. How can I help?"


def test_stop_is_obeyed_before_any_model(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.write("STOP")
    [confirmation] = bot.until_sent()
    assert "START" in confirmation["text"]
    bot.write("Do you have a table?")
    until(lambda: len(bot.deliveries()) == 2)
    assert bot.deliveries()[1][0] == "stored"
    bot.write("start")
    bot.until_sent(2)
    assert model.requests("reply") == []
    bot.write("And now?")
    bot.until_sent(3)


def test_nothing_is_sent_to_a_chat_that_opted_out(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.write("STOP")
    bot.until_sent()
    [conversation] = bot.rows(Conversation)
    colleague = member_of(bot.tenant, "operator")
    with bot.tenant.tx():
        take_over(conversation.pk, by=colleague)
        answer(conversation.pk, "Hello?", by=colleague)
    states = [state for state, _ in bot.receipts()]
    assert states[1:] == ["failed", "failed"]
    assert len(bot.telegram.of("sendMessage")) == 1


def test_a_disconnected_channel_says_why_nothing_left(bot: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes.", ttft_ms=300)
    bot.write()
    bot.api.delete("/api/v1/channels/telegram")
    assert bot.until_receipts("failed") == [("failed", "The channel isn’t connected any more.")]


def test_a_success_that_names_no_message_is_uncertain() -> None:
    """A proxy's page is no word of the provider's."""
    page = "<html>Sign in</html>"
    outcomes = (
        telegram_api.read_outcome(BotAnswer(status=200, excerpt=page), {}),
        whatsapp_api.read_outcome(GraphAnswer(status=200, excerpt=page), {}),
    )
    assert [outcome.ending for outcome in outcomes] == [Ending.UNKNOWN, Ending.UNKNOWN]


@pytest.mark.parametrize("body", [b'{"ok": true}', b'{"ok": true, "result": {"message_id": 7}}'])
def test_a_success_in_telegrams_own_form_is_sent(body: bytes) -> None:
    outcome = telegram_api.read_outcome(telegram_api._read(200, body, "token"), {})
    assert outcome.ending is Ending.DONE
