"""Updates from Telegram: verified, stored once, answered without network."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from conversations.models import Chat, Conversation, Delivery, PersonaField
from conversations.models.persona import Strength
from jobs.models import Job
from tests.conversations.channels.conftest import ANNA, Bot


def test_an_update_is_a_message_with_a_turn_and_its_reply_job(bot: Bot) -> None:
    answer = bot.write("Do you have a table?")
    assert (answer.status_code, answer.headers["X-Stored"]) == (200, "1")
    assert bot.transcript() == [("user", "Do you have a table?")]
    [conversation] = bot.rows(Conversation)
    assert (conversation.channel, conversation.metadata["chat"]["id"]) == ("telegram", "77")
    assert len(bot.rows(Job, lane="reply")) == 1


@pytest.mark.requirement("T01")
def test_a_repeated_update_is_answered_200_and_changes_nothing(bot: Bot) -> None:
    update = bot.update("Hello")
    answers = [bot.deliver(update) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert [answer.headers["X-Stored"] for answer in answers] == ["1", "0", "0"]
    assert bot.stored() == (1, 1)


def test_a_chat_is_one_conversation(bot: Bot) -> None:
    bot.write("One")
    bot.write("Two")
    bot.write("Somebody else", chat=78, user={**ANNA, "id": 78})
    assert bot.stored() == (2, 3)


def test_fifty_first_messages_at_once_make_one_conversation(bot: Bot) -> None:
    updates = [bot.update(f"Message {number}") for number in range(50)]

    def deliver(update: Any) -> int:
        try:
            return int(bot.deliver(update).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(deliver, updates)) == {200}
    assert bot.stored() == (1, 50)


@pytest.mark.parametrize("secret", ["", "wrong", "x" * 300])
def test_a_wrong_token_is_401_and_stores_nothing(bot: Bot, secret: str) -> None:
    answer = bot.deliver(bot.update(), secret=secret)
    assert (answer.status_code, bot.stored(), bot.rows(Delivery)) == (401, (0, 0), [])
    assert answer.json()["error"]["request_id"] == answer["X-Request-Id"]
    assert answer.json()["error"]["message"]


def test_the_token_of_another_bot_is_foreign(bot: Bot, stranger: Any, telegram_server: Any) -> None:
    ours = bot.telegram.webhook
    theirs = Bot(stranger, telegram_server)
    theirs.connect()
    foreign = bot.telegram.webhook["secret_token"]
    bot.telegram.webhook = ours
    assert (bot.deliver(bot.update(), secret=foreign).status_code, bot.stored()) == (401, (0, 0))


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"update_id": "1"}', b"\xff\xfe", b"[" * 50_000])
def test_a_malformed_update_is_refused_in_words(bot: Bot, body: bytes) -> None:
    answer = bot.deliver(body)
    assert (answer.status_code, bot.stored(), bot.rows(Delivery)) == (422, (0, 0), [])


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"], ids=["null", "surrogate"])
def test_characters_that_cannot_be_stored_are_left_out(bot: Bot, text: str) -> None:
    assert bot.write(text, **{text: {text: text}}).status_code == 200
    assert bot.transcript() == [("user", "ab" if "\x00" in text else "a?b")]


def test_an_oversized_update_is_refused(bot: Bot) -> None:
    assert (bot.deliver(b"x" * 1_100_000).status_code, bot.stored()) == (413, (0, 0))


def test_a_disconnected_bot_takes_no_update(bot: Bot) -> None:
    update, path, secret = bot.update(), bot.path, bot.telegram.webhook["secret_token"]
    bot.telegram.webhook = {"url": f"https://x{path}", "secret_token": secret}
    assert bot.api.delete("/api/v1/channels/telegram").status_code == 204
    bot.telegram.webhook = {"url": f"https://x{path}", "secret_token": secret}
    assert (bot.deliver(update).status_code, bot.stored()) == (401, (0, 0))


def test_only_a_post_is_an_update(bot: Bot) -> None:
    assert bot.api.get(bot.path).status_code == 405


# What isn't a text


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"location": {"latitude": 45.4642, "longitude": 9.19}}, "[Location: 45.46420, 9.19000]"),
        (
            {
                "venue": {"title": "Duomo", "address": "Milano", "location": {"latitude": 45, "longitude": 9}},
                "location": {"latitude": 45, "longitude": 9},
            },
            "[Location: Duomo, Milano (45.00000, 9.00000)]",
        ),
        ({"contact": {"first_name": "Carla", "phone_number": "+39333"}}, "[Contact: Carla, +39333]"),
        ({"sticker": {"emoji": "👍", "is_animated": True, "file_id": "x"}}, "[Sticker 👍]"),
        ({"poll": {"question": "?"}}, "[The customer sent a poll, which can't be read here.]"),
        ({"photo": [{"file_id": "x", "width": 90}], "caption": "The bill"}, "The bill\n[File: photo.jpg]"),
        ({"document": {"file_id": "x", "file_name": "menu.pdf"}}, "[File: menu.pdf]"),
    ],
)
def test_what_is_no_text_is_named(bot: Bot, message: dict[str, Any], content: str) -> None:
    assert bot.write("", **message).status_code == 200
    assert bot.transcript() == [("user", content)]


@pytest.mark.parametrize(
    "update",
    [
        {"message": {"message_id": 1, "from": ANNA, "chat": {"id": -5, "type": "group"}, "date": 1, "text": "Hi"}},
        {
            "message": {
                "message_id": 1,
                "from": {**ANNA, "is_bot": True},
                "chat": {"id": 5, "type": "private"},
                "date": 1,
            }
        },
        {"message": {"message_id": 1, "text": "no chat"}},
        {"message": {"message_id": 1, "from": ANNA, "chat": {"id": 5, "type": "private"}, "date": 1, "text": "\x00"}},
        {"poll": {"id": "1"}},
        {"message_reaction": {"chat": {"id": 5}, "new_reaction": [{"type": "emoji", "emoji": "👍"}]}},
        {},
    ],
    ids=["group", "bot", "malformed", "empty", "unknown", "reaction", "nothing"],
)
def test_what_is_not_understood_is_named_and_answered_200(bot: Bot, update: dict[str, Any]) -> None:
    assert bot.deliver({"update_id": 5, **update}).status_code == 200
    assert bot.stored() == (0, 0)
    [(result, detail)] = bot.deliveries()
    assert (result in ("ignored", "refused"), bool(detail)) == (True, True)


def test_an_edit_is_told_as_a_correction(bot: Bot) -> None:
    first = bot.update("A table for four")
    bot.deliver(first)
    for text in ("A table  for four", "A table for five"):
        edited = {**first["message"], "text": text, "edit_date": int(time.time())}
        bot.deliver({"update_id": next(bot.ids), "edited_message": edited})
    assert bot.transcript()[1:] == [("user", "[The customer corrected an earlier message:] A table for five")]
    assert [result for result, _ in bot.deliveries()] == ["answered", "ignored", "answered"]


def test_an_edit_that_comes_before_its_message_counts_once(bot: Bot) -> None:
    first = bot.update("A table for four")
    edited = {**first["message"], "text": "A table for five", "edit_date": int(time.time())}
    bot.deliver({"update_id": next(bot.ids), "edited_message": edited})
    bot.deliver(first)
    assert bot.transcript() == [("user", "A table for five")]


def test_a_pressed_button_says_its_text(bot: Bot) -> None:
    message = bot.update()["message"]
    bot.deliver({"update_id": 9, "callback_query": {"id": "q", "from": ANNA, "message": message, "data": "Yes"}})
    assert bot.transcript() == [("user", "Yes")]


def test_a_message_of_two_days_ago_is_stored_without_an_answer(bot: Bot) -> None:
    bot.write("Are you open?", date=int(time.time()) - 2 * 86_400)
    assert bot.deliveries()[0][0] == "stored"
    assert bot.rows(Job, lane="reply") == []
    [conversation] = bot.rows(Conversation)
    assert "day late" in conversation.flag


# The customer


def test_a_name_is_observed_and_never_on_file(bot: Bot) -> None:
    bot.write()
    fields = {one.key: one for one in bot.rows(PersonaField)}
    assert (fields["name"].value, fields["language"].value) == ("Anna Bianchi", "it")
    assert {one.strength for one in fields.values()} == {Strength.STATED}


def test_a_chat_belongs_to_the_account_that_it_was_opened_with(bot: Bot) -> None:
    bot.write()
    [chat] = bot.rows(Chat)
    assert (chat.kind, chat.account, chat.external_id) == ("telegram", "4711", "77")


# The channel


def test_an_unknown_setting_is_refused_with_those_that_are_known(bot: Bot) -> None:
    answer = bot.api.put("/api/v1/channels/telegram", {"settings": {"bot": "x"}}, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "settings.bot"
    assert "base_url" in answer.json()["error"]["message"]


def test_connecting_sets_the_webhook_with_a_secret(bot: Bot) -> None:
    [set_webhook] = bot.telegram.of("setWebhook")
    assert set_webhook["url"].endswith(bot.path)
    assert len(set_webhook["secret_token"]) == 64
    assert "message" in set_webhook["allowed_updates"]


def test_the_channel_shows_its_state_and_deliveries_and_never_its_secret(bot: Bot) -> None:
    bot.write()
    answer = bot.api.get("/api/v1/channels/telegram")
    body = answer.json()
    assert (body["state"], body["address"], body["problem"]) == ("connected", "@nello_bot", "")
    assert body["webhook"] == bot.telegram.webhook["url"]
    assert [one["result"] for one in body["last_deliveries"]] == ["answered"]
    assert bot.telegram.webhook["secret_token"] not in answer.content.decode()
    assert "canary-of-the-bot" not in answer.content.decode()


def test_conversations_are_listed_by_channel(bot: Bot) -> None:
    bot.write()
    bot.api.post(
        "/api/v1/conversations", {"channel": "api", "persona": {"external_id": "p1"}}, content_type="application/json"
    )
    listed = bot.api.get("/api/v1/conversations?channel=telegram").json()["results"]
    assert [one["channel"] for one in listed] == ["telegram"]
    assert bot.api.get("/api/v1/conversations?channel=fax").status_code == 400


def test_a_wrong_bot_token_is_rejected(bot: Bot) -> None:
    body = bot.connect(token="1:wrong")
    assert (body["state"], "token" in body["problem"]) == ("rejected", True)


def test_a_server_that_is_away_is_named(bot: Bot) -> None:
    bot.telegram.faults["setWebhook"] = [None]
    body = bot.connect()
    assert (body["state"], bool(body["problem"])) == ("failed", True)
