"""WhatsApp by Meta's Cloud API: signed batches, statuses and the window of 24 hours."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from conversations.models import Chat, Conversation, Delivery, Message, Receipt
from conversations.turns.services import post_message
from tests.conftest import Tenant
from tests.processes import ScriptedModel, until

pytestmark = pytest.mark.standing_worker

URL, NUMBER, ANNA = "/api/v1/channels/whatsapp", "106540352242922", "393331234567"
SECRET = {"access_token": "canary-access", "app_secret": "canary-app", "verify_token": "canary-verify"}


class Graph(ThreadingHTTPServer):
    """A server that answers as the Cloud API documents."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.faults: list[tuple[int, dict[str, Any]]] = []


class _Visit(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Graph = self.server  # type: ignore[assignment]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.calls.append((self.path, self.headers["Authorization"], body))
        status, document = server.faults.pop(0) if server.faults else (200, {"messages": [{"id": "wamid.out"}]})
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


@dataclass
class Line:
    """A number at a Cloud API of the tests'."""

    tenant: Tenant
    graph: Graph
    webhook: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self) -> None:
        settings = {"phone_number_id": NUMBER, "base_url": f"http://127.0.0.1:{self.graph.server_address[1]}/v23.0"}
        body = json.dumps({"settings": settings, "secret": SECRET})
        answer = self.api.put(URL, body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        self.webhook = urlsplit(answer.json()["webhook"]).path

    def deliver(self, value: dict[str, Any], *, secret: str = SECRET["app_secret"], number: str = NUMBER) -> Any:
        whole = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": number}, **value}
        change = {"field": "messages", "value": whole}
        body = json.dumps({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}).encode()
        signature = f"sha256={hmac.new(secret.encode(), body, sha256).hexdigest()}"
        client = Client(headers={"X-Hub-Signature-256": signature})
        return client.post(self.webhook, body, content_type="application/json")

    def write(self, *messages: dict[str, Any], **changes: Any) -> Any:
        contacts = [{"wa_id": ANNA, "profile": {"name": "Anna"}}]
        return self.deliver({"contacts": contacts, "messages": list(messages)}, **changes)

    def rows(self, model: Any, **where: Any) -> list[Any]:
        with self.tenant.tx():
            return list(model.objects.filter(**where).order_by("pk"))

    def until_state(self, *states: str) -> list[Receipt]:
        until(lambda: [one.state for one in self.rows(Receipt)] == list(states), what=f"{states}, {self.rows(Receipt)}")
        return self.rows(Receipt)


def text(body: str = "Hello", id: str = "wamid.1", at: int = 0) -> dict[str, Any]:
    moment = str(at or int(time.time()))
    return {"from": ANNA, "id": id, "timestamp": moment, "type": "text", "text": {"body": body}}


def status(state: str, **changes: Any) -> dict[str, Any]:
    return {"statuses": [{"id": "wamid.out", "status": state, "timestamp": str(int(time.time())), **changes}]}


@pytest.fixture
def line(tenant: Tenant, settings: Any) -> Iterator[Line]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    graph = Graph()
    Thread(target=graph.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    line = Line(tenant, graph)
    line.connect()
    yield line
    graph.shutdown()
    graph.server_close()


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
