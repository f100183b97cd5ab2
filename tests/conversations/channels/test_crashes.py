"""Processes killed while a message arrives or leaves: none is lost, and none is sent twice."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import timedelta

import pytest

from conversations.models import Attachment, Event, Message
from tests.conversations.channels.conftest import SECRET_HEADER, Bot
from tests.conversations.channels.files import JPEG
from tests.processes import ForkServer, ScriptedModel, until

pytestmark = pytest.mark.short_leases


def post(base: str, bot: Bot, update: object) -> int:
    """The status of a delivery to a web process; 0 if it died."""
    request = urllib.request.Request(f"{base}{bot.path}", data=json.dumps(update).encode(), method="POST")
    request.add_header(SECRET_HEADER, bot.telegram.webhook["secret_token"])
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except (urllib.error.URLError, ConnectionError):
        return 0


@pytest.mark.parametrize(
    ("label", "stored"), [("channel.verified_pre_commit", (0, 0)), ("channel.committed_pre_200", (1, 1))]
)
def test_an_update_whose_web_process_dies_is_delivered_again(
    label: str, stored: tuple[int, int], bot: Bot, processes: ForkServer, model: ScriptedModel
) -> None:
    doomed, base = processes.web(crash_at=f"{label}:1")
    update = bot.update("Hello")
    assert post(base, bot, update) == 0
    doomed.wait()
    assert bot.stored() == stored
    _, base = processes.web()
    assert [post(base, bot, update) for _ in range(2)] == [200, 200]
    processes.worker()
    bot.until_receipts("sent")
    assert [role for role, _ in bot.transcript()] == ["user", "agent"]
    assert len(bot.telegram.of("sendMessage")) == 1


@pytest.mark.parametrize(
    ("label", "state", "sent"),
    [
        ("lane.claimed", "sent", 1),
        ("channel.sending_pre_bytes", "unknown", 0),
        ("channel.response_pre_commit", "unknown", 1),
    ],
)
def test_a_message_whose_worker_dies_is_never_sent_twice(
    label: str, state: str, sent: int, bot: Bot, processes: ForkServer, model: ScriptedModel
) -> None:
    """A part that may have left is unknown: staff is asked."""
    doomed = processes.worker(queues="work", crash_at=f"{label}:1")
    replies = processes.worker(queues="replies")
    bot.write("Hello")
    doomed.wait()
    processes.worker(queues="work")
    bot.until_receipts(state)
    until(lambda: len(bot.telegram.of("sendMessage")) == sent, what=f"{sent} messages")
    replies.kill()


@pytest.mark.parametrize(
    ("label", "fetches"),
    [("lane.claimed", 1), ("channel_files.fetched_pre_commit", 2), ("channel_files.attached", 1)],
)
def test_a_file_whose_worker_dies_is_attached_once(
    label: str, fetches: int, bot: Bot, processes: ForkServer, model: ScriptedModel
) -> None:
    """The reply waits for it, and sees it."""
    bot.telegram.files["photo1"] = JPEG
    doomed = processes.worker(queues="work", crash_at=f"{label}:1")
    replies = processes.worker(queues="replies")
    bot.write("", photo=[{"file_id": "photo1", "width": 9}])
    doomed.wait()
    processes.worker(queues="work")
    bot.until_receipts("sent")
    [message] = bot.rows(Message, role="user")
    assert [one["id"] for one in message.attachments] == [str(one.pk) for one in bot.rows(Attachment)]
    assert (len(message.attachments), len(bot.rows(Event, idn="message_files_added"))) == (1, 1)
    assert len(bot.telegram.downloads) == fetches
    assert [request["pictures"] for request in model.requests("reply")] == [1]
    replies.kill()


def test_a_file_that_no_worker_survives_holds_up_the_reply_for_a_while_only(
    bot: Bot, processes: ForkServer, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.channels.chats.PATIENCE", timedelta(seconds=1))
    processes.worker(queues="replies")
    bot.write("", photo=[{"file_id": "photo1", "width": 9}], caption="Look")
    until(lambda: len(model.requests("reply")) == 1, what="the reply")
    prompt = model.requests("reply")[0]["messages"][-1]["content"]
    assert "Look ⏎ [File: photo.jpg]" in prompt
    assert "You can't open these files of the customer, so don't guess what they hold: photo.jpg" in prompt
