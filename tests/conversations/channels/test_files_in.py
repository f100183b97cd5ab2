"""Files that customers send: fetched after the webhook, attached once, and seen by the reply."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.handover.attachments import MAX_BYTES
from conversations.models import Attachment, Conversation, Event, Message
from jobs.models import Job
from projects.models.attribute_catalogue import STORAGE_LIMIT
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.files import JPEG, PDF, SVG, ZIP, until_read
from tests.privacy.test_export import read as export_of
from tests.processes import ScriptedModel, until

pytestmark = pytest.mark.standing_worker


def photo(bot: Bot, content: bytes | None = JPEG, *, id: str = "photo1", **changes: Any) -> None:
    """Deliver a photo. Telegram doesn't have it if its content is None."""
    if content is not None:
        bot.telegram.files[id] = content
    sizes = [{"file_id": "small", "width": 90, "height": 90}, {"file_id": id, "width": 800, "height": 800}]
    assert bot.write("", photo=sizes, **changes).status_code == 200


def document(bot: Bot, content: bytes, *, name: str, declared: str = "", **changes: Any) -> None:
    bot.telegram.files["doc1"] = content
    found = {"file_id": "doc1", "file_name": name, **({"mime_type": declared} if declared else {})}
    assert bot.write("", document=found, **changes).status_code == 200


def unseen(request: dict[str, Any]) -> str:
    """The files that a reply's prompt names as those that can't be opened."""
    found = re.search(r"<Files>\n.*: (.*)\n</Files>", request["messages"][-1]["content"])
    return found[1] if found else ""


def test_the_webhook_stores_the_message_and_fetches_nothing(bot: Bot) -> None:
    photo(bot, caption="Is this table free?")
    assert bot.transcript() == [("user", "Is this table free?\n[File: photo.jpg]")]
    assert (bot.telegram.downloads, bot.telegram.of("getFile")) == ([], [])
    [reply] = bot.rows(Job, lane="reply")
    assert timedelta(0) < reply.run_after - timezone.now() <= timedelta(seconds=20)


def test_a_photo_is_attached_and_seen_by_the_reply(bot: Bot, worker: object, model: ScriptedModel) -> None:
    photo(bot, caption="Is this table free?")
    bot.until_receipts("sent")
    [message] = bot.rows(Message, role="user")
    [attached] = bot.rows(Attachment)
    assert message.content == "Is this table free?\n[File: photo.jpg]"
    assert [one["id"] for one in message.attachments] == [str(attached.pk)]
    assert (bytes(attached.content), attached.content_type, attached.uploaded_by_id) == (JPEG, "image/jpeg", None)
    [asked] = model.requests("reply")
    assert (asked["pictures"], "[File: photo.jpg]" in str(asked["messages"]), unseen(asked)) == (1, True, "")


def test_the_transcript_and_the_stream_show_the_file(bot: Bot, worker: object, model: ScriptedModel) -> None:
    photo(bot)
    message = until_read(bot.tenant)
    address = f"/api/v1/conversations/{message.conversation_id}/messages"
    [shown] = bot.api.get(address).json()["results"][0]["attachments"]
    assert Client().get("/files/" + shown["url"].rpartition("/")[2]).content == JPEG
    [event] = bot.rows(Event, idn="message_files_added")
    assert (event.type, [one["id"] for one in event.payload["attachments"]]) == ("message", [shown["id"]])


def test_pictures_beyond_what_a_request_holds_are_named(bot: Bot, worker: object, model: ScriptedModel) -> None:
    photo(bot, JPEG + bytes(7 * 1024 * 1024), caption="Look")
    bot.until_receipts("sent")
    [asked] = model.requests("reply")
    assert (asked["pictures"], unseen(asked)) == (0, "photo.jpg")


def test_a_pdf_is_kept_under_its_name_and_shown_to_no_model(bot: Bot, worker: object, model: ScriptedModel) -> None:
    document(bot, PDF, name="../offer.pdf", declared="application/pdf")
    bot.until_receipts("sent")
    [attached] = bot.rows(Attachment)
    assert (attached.name, attached.content_type) == ("offer.pdf", "application/pdf")
    [asked] = model.requests("reply")
    assert (asked["pictures"], unseen(asked)) == (0, "offer.pdf")


def test_an_album_is_answered_once_with_all_of_it_in_view(bot: Bot, worker: object, model: ScriptedModel) -> None:
    """Telegram sends each of its photos as a message."""
    model.script("reply", text="Lovely.")
    bot.telegram.download_faults = [503]
    for number in range(3):
        photo(bot, id=f"photo{number}", media_group_id="1")
    bot.until_receipts("sent")
    assert [(request["pictures"], unseen(request)) for request in model.requests("reply")] == [(3, "")]


def test_words_that_follow_a_photo_wait_for_it_too(bot: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Ten euros.")
    bot.telegram.download_faults = [503]
    photo(bot)
    bot.write("What does it cost?")
    bot.until_receipts("sent")
    assert [request["pictures"] for request in model.requests("reply")] == [1]


@pytest.mark.parametrize(
    ("content", "name", "declared", "reason"),
    [
        (None, "photo.jpg", "", "doesn’t have it any more"),
        (b"\x89PNG\r\n\x1a\n" + bytes(MAX_BYTES), "big.png", "image/png", "too large"),
        (b"<html><script>alert(1)</script></html>", "photo.png", "image/png", "what it was sent as"),
        (SVG, "logo.svg", "image/svg+xml", "what it was sent as"),
        (ZIP, "bomb.zip", "application/zip", "only images, audio, videos, PDFs and texts"),
        (b"", "empty.txt", "text/plain", "empty"),
    ],
    ids=["gone", "too large", "lying kind", "SVG", "archive", "empty"],
)
def test_a_file_that_is_not_kept_leaves_a_sentence_and_the_turn_goes_on(
    content: bytes | None, name: str, declared: str, reason: str, bot: Bot, worker: object, model: ScriptedModel
) -> None:
    if content is None:
        photo(bot, None, caption="Look")
    else:
        document(bot, content, name=name, declared=declared, caption="Look")
    bot.until_receipts("sent")
    [message] = bot.rows(Message, role="user")
    assert (message.attachments, bot.rows(Attachment)) == ([], [])
    assert message.content.startswith(f"Look\n[File: {name}, which can’t be read here: ")
    assert reason in message.content
    [asked] = model.requests("reply")
    assert (reason in str(asked["messages"]), unseen(asked)) == (True, "")


@pytest.mark.parametrize("path", ["../bot/sendMessage", "/etc/passwd", "files/a?b", "http://10.0.0.1/a", "a b", ""])
def test_an_invalid_path_is_not_fetched(path: str, bot: Bot, worker: object, model: ScriptedModel) -> None:
    """It becomes part of an address that holds the bot's token."""
    bot.telegram.file_path = path
    photo(bot)
    assert ("no address of its own" in until_read(bot.tenant).content, bot.telegram.downloads) == (True, [])


def test_a_text_that_claims_nothing_is_kept_inert(bot: Bot, worker: object, model: ScriptedModel) -> None:
    document(bot, SVG, name="logo.svg")
    message = until_read(bot.tenant)
    assert [(one["name"], one["content_type"]) for one in message.attachments] == [("logo.svg.txt", "text/plain")]


def test_a_file_beyond_the_storage_is_not_kept(bot: Bot, worker: object, model: ScriptedModel) -> None:
    answer = bot.api.put(f"/api/v1/attributes/{STORAGE_LIMIT}", {"value": 1}, content_type="application/json")
    assert answer.status_code < 300, answer.content
    photo(bot, b"\x89PNG\r\n\x1a\n" + bytes(1_200_000))
    assert "storage is full" in until_read(bot.tenant).content


def test_a_repeated_update_attaches_nothing_twice(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.files["photo1"] = JPEG
    update = bot.update("", photo=[{"file_id": "photo1", "width": 9}])
    for _ in range(3):
        assert bot.deliver(update).status_code == 200
    until_read(bot.tenant)
    assert bot.deliver(update).status_code == 200
    assert (len(bot.rows(Attachment)), len(bot.rows(Job, lane="channel_files"))) == (1, 1)


def test_a_new_caption_is_a_correction_without_the_file(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.telegram.files["photo1"] = JPEG
    update = bot.update("", photo=[{"file_id": "photo1", "width": 9}], caption="This one")
    bot.deliver(update)
    until_read(bot.tenant)
    message = update["message"]
    same = {"update_id": 1, "edited_message": message}
    edited = {"update_id": 2, "edited_message": {**message, "caption": "That one"}}
    assert [bot.deliver(one).status_code for one in (same, edited)] == [200, 200]
    said = [content for role, content in bot.transcript() if role == "user"]
    assert [content.partition("\n")[0] for content in said] == [
        "This one",
        "[The customer corrected an earlier message:] That one",
    ]
    assert len(bot.rows(Job, lane="channel_files")) == 1


def test_a_photo_with_the_caption_stop_is_kept_and_obeyed(bot: Bot, worker: object, model: ScriptedModel) -> None:
    photo(bot, caption="STOP")
    until(lambda: len(bot.rows(Attachment)) == 1, what="the file")
    assert bot.chat().opted_out_at is not None
    assert (until_read(bot.tenant).content, bot.deliveries()) == ("STOP\n[File: photo.jpg]", [("keyword", "STOP")])
    assert model.requests("reply") == []


def test_a_customer_who_opted_out_still_sends_files(bot: Bot, worker: object, model: ScriptedModel) -> None:
    bot.write("STOP")
    photo(bot)
    until(lambda: len(bot.rows(Attachment)) == 1, what="the file")
    assert model.requests("reply") == []


def test_the_files_of_a_disconnected_channel_are_given_up(bot: Bot, request: Any) -> None:
    photo(bot)
    bot.api.delete("/api/v1/channels/telegram")
    request.getfixturevalue("worker")
    assert "connected any more" in until_read(bot.tenant).content


def test_the_file_is_exported_and_erased_with_its_customer(bot: Bot, worker: object, model: ScriptedModel) -> None:
    photo(bot)
    bot.until_receipts("sent")
    [conversation] = bot.rows(Conversation)
    exported = export_of(bot.tenant, conversation.persona_id)
    assert [exported.read(name) for name in exported.namelist() if name.startswith("files/")] == [JPEG]
    assert bot.api.delete(f"/api/v1/personas/{conversation.persona_id}").status_code == 202
    until(lambda: not bot.rows(Attachment), what="the erasure")
