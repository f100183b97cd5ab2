"""Processes killed while a message arrives or leaves: none is lost, and none is sent twice."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from tests.conversations.channels.conftest import SECRET_HEADER, Bot
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
