"""A server that answers as Meta's Cloud API documents, and a number that is connected to it."""

from __future__ import annotations

import hmac
import json
import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

from conversations.models import Receipt
from tests.conftest import Tenant
from tests.conversations.channels.telegram_server import read_form
from tests.local_server import LocalServer, QuietHandler
from tests.processes import until

URL, NUMBER, ANNA = "/api/v1/channels/whatsapp", "106540352242922", "393331234567"
ACCOUNT = "102290129340398"
SECRET = {"access_token": "canary-access", "app_secret": "canary-app", "verify_token": "canary-verify"}


class Graph(LocalServer):
    """A server that answers as the Cloud API documents."""

    def __init__(self) -> None:
        super().__init__(_Visit)
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.faults: list[tuple[int, dict[str, Any]]] = []
        # The files that customers sent, by their id, and whom they were given out to.
        self.media: dict[str, bytes] = {}
        self.downloads: list[str] = []
        self.media_host = "127.0.0.1"
        self.upload_faults: list[tuple[int, dict[str, Any]]] = []
        self.typing: list[str] = []
        self.templates: list[dict[str, Any]] = []


class _Visit(QuietHandler):
    def do_GET(self) -> None:
        """The templates of the account, two on a page; the address of a file, or the file itself."""
        server: Graph = self.server  # type: ignore[assignment]
        address = urlsplit(self.path)
        if (id := address.path.rpartition("/")[2]) in server.media:
            self._give_out(id, is_file=address.path.startswith("/attachments/"))
            return
        if not address.path.endswith(f"/{ACCOUNT}/message_templates"):
            self._answer(400, {"error": {"code": 100, "message": "Unsupported get request."}})
            return
        start = int(parse_qs(address.query).get("after", ["0"])[0])
        more = {"next": "https://graph.example/next"} if start + 2 < len(server.templates) else {}
        paging = {"cursors": {"before": str(start), "after": str(start + 2)}, **more}
        self._answer(200, {"data": server.templates[start : start + 2], "paging": paging})

    def _give_out(self, id: str, *, is_file: bool) -> None:
        server: Graph = self.server  # type: ignore[assignment]
        if is_file:
            server.downloads.append(self.headers["Authorization"])
            self.respond(200, server.media[id], {})
            return
        url = f"http://{server.media_host}:{server.port}/attachments/{id}"
        self._answer(200, {"url": url, "mime_type": "image/png", "file_size": len(server.media[id]), "id": id})

    def do_POST(self) -> None:
        server: Graph = self.server  # type: ignore[assignment]
        raw, content_type = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Content-Type"]
        is_form = content_type.startswith("multipart/")
        body = read_form(raw, content_type) if is_form else json.loads(raw)
        if "typing_indicator" in body:
            server.typing.append(body["message_id"])
            self._answer(200, {"success": True})
            return
        server.calls.append((self.path, self.headers["Authorization"], body))
        usual = {"id": "media.out"} if is_form else {"messages": [{"id": "wamid.out"}]}
        faults = server.upload_faults if is_form else server.faults
        status, document = faults.pop(0) if faults else (200, usual)
        self._answer(status, document)

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        self.respond(status, json.dumps(document).encode(), {})


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

    def connect(self, **more: str) -> None:
        settings = {
            **more,
            "phone_number_id": NUMBER,
            "base_url": f"http://127.0.0.1:{self.graph.server_address[1]}/v23.0",
        }
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
