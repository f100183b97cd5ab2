"""WhatsApp by Meta's Cloud API: signed batches, statuses and the window of 24 hours."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from conversations.models import Chat, Conversation, Delivery, Message
from conversations.turns.services import post_message
from tests.conversations.channels.graph_server import ANNA, NUMBER, URL, Line, status, text
from tests.processes import ForkServer, ScriptedModel
from tools.models import Effect

PUBLIC = "https://makegood.example.com"
pytestmark = pytest.mark.standing_worker


def test_a_message_starts_a_conversation(line: Line) -> None:
    assert line.write(text("Do you have a table?")).status_code == 200
    [conversation] = line.rows(Conversation)
    assert (conversation.channel, [one.content for one in line.rows(Message)]) == (
        "whatsapp",
        ["Do you have a table?"],
    )


def test_a_batch_counts_item_by_item_and_oldest_first(line: Line) -> None:
    """A malformed one loses no other, and a repeated one changes nothing."""
    now = int(time.time())
    batch = [text("Two", "wamid.2", now), {"id": "wamid.x"}, "no object", text("One", "wamid.1", now - 5)]
    assert [line.write(*batch).status_code for _ in range(2)] == [200, 200]
    assert [one.content for one in line.rows(Message)] == ["One", "Two"]
    assert sorted(one.result for one in line.rows(Delivery)) == ["answered", "answered", "refused", "refused"]


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_a_forged_batch_stores_nothing(line: Line, secret: str) -> None:
    assert (line.write(text(), secret=secret).status_code, line.rows(Delivery)) == (401, [])


def test_a_message_to_another_number_of_the_account_is_not_ours(line: Line) -> None:
    assert line.write(text(), number="1").status_code == 200
    assert (line.rows(Message), [one.result for one in line.rows(Delivery)]) == ([], ["ignored"])


@pytest.mark.parametrize(("token", "code"), [("canary-verify", 200), ("wrong", 403), ("", 403)])
def test_metas_question_is_answered_to_the_right_token_only(line: Line, token: str, code: int) -> None:
    asked = {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "4711"}
    answer = Client().get(line.webhook, asked)
    assert (answer.status_code, answer.content == b"4711") == (code, code == 200)


def test_the_reply_is_sent_and_its_receipts_move_forward(line: Line, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes, at eight.")
    line.write(text())
    line.until_state("sent")
    [(path, authorization, body)] = line.graph.calls
    assert (path, authorization) == (f"/v23.0/{NUMBER}/messages", "Bearer canary-access")
    assert (body["to"], body["text"]["body"]) == (ANNA, "Yes, at eight.")
    for state in ("read", "delivered"):
        line.deliver(status(state))
    line.until_state("read")


def test_a_failure_that_is_reported_later_has_its_reason(line: Line, worker: object, model: ScriptedModel) -> None:
    line.write(text())
    line.until_state("sent")
    line.deliver(status("failed", errors=[{"code": 131026, "title": "Message undeliverable"}]))
    [receipt] = line.until_state("failed")
    assert "no WhatsApp" in receipt.reason


def test_nothing_is_sent_outside_of_the_window(line: Line, worker: object, model: ScriptedModel) -> None:
    line.write(text(at=int(time.time()) - 2 * 86_400))
    [chat] = line.rows(Chat)
    with line.tenant.tx():
        post_message(chat.conversation_id, "A test of the window.")
    [receipt] = line.until_state("failed")
    assert ("24 hours" in receipt.reason, line.graph.calls) == (True, [])


def test_a_limit_of_meta_postpones_the_message(line: Line, worker: object, model: ScriptedModel) -> None:
    line.graph.faults = [(400, {"error": {"code": 131056, "message": "pair rate limit"}})]
    line.write(text())
    line.until_state("sent")
    assert len(line.graph.calls) == 2


def test_the_channel_never_shows_its_secret(line: Line) -> None:
    answer = line.api.get(URL)
    assert answer.json()["verify_token"] == "canary-verify"
    assert not any(secret in answer.content.decode() for secret in ("canary-access", "canary-app"))


def answered(line: Line, processes: ForkServer, settings: Any) -> dict[str, Any]:
    """The request of an answer that Meta has taken, at an address that Meta can reach."""
    settings.BASE_URL = PUBLIC
    processes.worker(address=PUBLIC)
    line.write(text())
    line.until_state("sent")
    [(_, _, body)] = line.graph.calls
    return body


def test_a_message_awaits_its_receipt(line: Line, processes: ForkServer, model: ScriptedModel, settings: Any) -> None:
    answered(line, processes, settings)
    [effect] = line.rows(Effect)
    assert (effect.receipt, effect.receipt_due_at - effect.receipt_at) == ("sent", timedelta(hours=24))


def test_a_status_repeats_the_name_of_its_effect(
    line: Line, processes: ForkServer, model: ScriptedModel, settings: Any
) -> None:
    """It finds its message by that name, even if the id is another."""
    name = answered(line, processes, settings)["biz_opaque_callback_data"]
    [effect] = line.rows(Effect)
    assert name == effect.effect_key
    with line.tenant.tx():
        Effect.objects.update(receipt="", receipt_ref="", state="unknown")
    line.deliver(status("delivered", biz_opaque_callback_data=name))
    assert [(one.state, one.receipt) for one in line.rows(Effect)] == [("done", "delivered")]
