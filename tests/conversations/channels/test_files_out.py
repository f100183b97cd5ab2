"""Files of operators' answers on their way to Telegram: parts of the message, each with its receipt."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from conversations.common.attachment_links import attachment_url, customer_file_url, provider_url, read_attachment_token
from conversations.models import Attachment, Receipt
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.files import PDF, PNG, answer_with
from tests.processes import ScriptedModel
from tools.models import Effect

pytestmark = pytest.mark.standing_worker


@pytest.fixture
def chat(bot: Bot, worker: object, model: ScriptedModel) -> Bot:
    """A chat in which the agent has answered."""
    bot.write()
    bot.until_receipts("sent")
    return bot


def test_a_picture_and_a_document_follow_the_text(chat: Bot) -> None:
    answer_with(chat.tenant, PNG, PDF)
    chat.until_receipts("sent", "sent", "sent", "sent", "sent")
    assert [call.method for call in chat.telegram.calls[-3:]] == ["sendMessage", "sendPhoto", "sendDocument"]
    assert chat.telegram.of("sendMessage")[-1]["text"] == "Here it is."
    assert chat.telegram.of("sendPhoto") == [{"chat_id": "77", "photo": ("menu.png", "image/png", PNG)}]
    assert chat.telegram.of("sendDocument") == [{"chat_id": "77", "document": ("menu.pdf", "application/pdf", PDF)}]
    assert [one.part for one in chat.rows(Receipt)][-3:] == [0, 1, 2]
    assert len({one.external_id for one in chat.rows(Receipt)}) == 5


def test_an_answer_of_a_file_alone_is_that_file(chat: Bot) -> None:
    """The inbox sends it with its name as the words."""
    answer_with(chat.tenant, PDF, content="menu.pdf")
    chat.until_receipts("sent", "sent", "sent")
    assert [call.method for call in chat.telegram.calls[-2:]] == ["sendMessage", "sendDocument"]


def test_a_picture_that_telegram_rejects_goes_as_a_document(chat: Bot) -> None:
    refusal = {"ok": False, "error_code": 400, "description": "Bad Request: PHOTO_INVALID_DIMENSIONS"}
    chat.telegram.faults["sendPhoto"] = [(400, refusal)]
    answer_with(chat.tenant, PNG)
    chat.until_receipts("sent", "sent", "sent", "sent")
    assert len(chat.telegram.of("sendDocument")) == 1


def test_a_cut_upload_is_unknown_and_not_sent_again(chat: Bot) -> None:
    chat.telegram.faults["sendPhoto"] = [None]
    answer_with(chat.tenant, PNG)
    chat.until_receipts("sent", "sent", "sent", "unknown")
    assert len(chat.telegram.of("sendPhoto")) == 1


def test_the_ledger_names_the_file_and_holds_none(chat: Bot) -> None:
    answer_with(chat.tenant, PNG)
    chat.until_receipts("sent", "sent", "sent", "sent")
    [attached] = chat.rows(Attachment)
    effect = chat.rows(Effect, kind="channel_message")[-1]
    assert effect.arguments["file"]["id"] == str(attached.pk)
    assert "PNG" not in str((effect.arguments, effect.request, effect.result))


def test_a_file_that_was_deleted_is_not_sent(chat: Bot) -> None:
    chat.telegram.faults["sendMessage"] = [(429, {"ok": False, "parameters": {"retry_after": 1}})] * 2
    answer_with(chat.tenant, PNG)
    with chat.tenant.tx():
        Attachment.objects.all().delete()
    assert chat.until_receipts("sent", "sent", "sent", "failed")[-1] == ("failed", "The file was deleted.")


@pytest.mark.parametrize(
    ("address", "seconds"),
    [(provider_url, 4 * 3600 + 1), (customer_file_url, 8 * 86_400 + 1)],
    ids=["of a provider", "of a customer's file"],
)
def test_a_temporary_address_ends(
    address: Callable[[UUID, UUID], str], seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [make(uuid4(), uuid4()).rpartition("/")[2] for make in (attachment_url, address)]
    assert [read_attachment_token(token) is not None for token in tokens] == [True, True]
    later = time.time() + seconds
    monkeypatch.setattr("conversations.common.attachment_links.time.time", lambda: later)
    assert [read_attachment_token(token) is not None for token in tokens] == [True, False]
