"""A server that answers as Telegram's Bot API documents, and posts updates as Telegram does."""

from __future__ import annotations

import email
import email.message
import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from tests.local_server import LocalServer, QuietHandler

TOKEN = "4711:canary-of-the-bot"
BOT = {"id": 4711, "is_bot": True, "first_name": "Nello", "username": "nello_bot"}

TOO_MANY = {
    "ok": False,
    "error_code": 429,
    "description": "Too Many Requests: retry after 1",
    "parameters": {"retry_after": 1},
}


@dataclass
class BotCall:
    """A call of a method of the bot."""

    method: str
    body: dict[str, Any]


@dataclass
class BotScript:
    """The server's behavior. `faults` are answers by method, each used once; None cuts the connection off.

    With `per_second`, more messages within a second are refused. `delivered` are those that were not.

    `files` are the files that customers sent, by their id. `downloads` are the ids of those that were fetched, and
    `download_faults` the statuses that the next ones get.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    file_path: str = "files/{id}"
    downloads: list[str] = field(default_factory=list)
    download_faults: list[int] = field(default_factory=list)
    calls: list[BotCall] = field(default_factory=list)
    faults: dict[str, list[tuple[int, Mapping[str, Any]] | None]] = field(default_factory=dict)
    webhook: dict[str, Any] = field(default_factory=dict)
    sent: int = 0
    per_second: int = 0
    delivered: list[dict[str, Any]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _second: tuple[int, int] = (0, 0)

    def is_over_limit(self) -> bool:
        """Count a message against the limit of its second."""
        with self._lock:
            now = int(time.monotonic())
            count = self._second[1] if self._second[0] == now else 0
            self._second = (now, count + 1)
            return bool(self.per_second) and count >= self.per_second

    def of(self, method: str) -> list[dict[str, Any]]:
        return [call.body for call in self.calls if call.method == method]


def read_form(raw: bytes, content_type: str) -> dict[str, Any]:
    """The fields of a form. A file is its name, its type and its content."""
    message = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + raw)
    fields: dict[str, Any] = {}
    for part in message.get_payload():
        assert isinstance(part, email.message.Message)
        content, file = part.get_payload(decode=True), part.get_filename()
        assert isinstance(content, bytes)
        name = str(part.get_param("name", header="Content-Disposition"))
        fields[name] = (file, part.get_content_type(), content) if file else content.decode()
    return fields


class _Visit(QuietHandler):
    def do_GET(self) -> None:
        script: BotScript = self.server.script  # type: ignore[attr-defined]
        id = self.path.removeprefix(f"/file/bot{TOKEN}/files/")
        script.downloads.append(id)
        status = script.download_faults.pop(0) if script.download_faults else 200 if id in script.files else 404
        content = script.files[id] if status == 200 else b"{}"
        self.respond(status, content, {"Content-Type": "application/octet-stream"})

    def do_POST(self) -> None:
        script: BotScript = self.server.script  # type: ignore[attr-defined]
        length, content_type = int(self.headers.get("Content-Length", "0")), self.headers["Content-Type"]
        raw = self.rfile.read(length)
        if len(raw) < length:
            # The sender died within the request, which counts for nothing.
            self.close_connection = True
            return
        is_form = content_type.startswith("multipart/")
        body = read_form(raw, content_type) if is_form else json.loads(raw or b"{}")
        token, _, method = self.path.removeprefix("/bot").partition("/")
        if token != TOKEN:
            self._answer(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
            return
        script.calls.append(BotCall(method, body))
        if faults := script.faults.get(method):
            if (fault := faults.pop(0)) is None:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                return
            self._answer(*fault)
            return
        if method == "getFile" and (problem := _file_problem(script, body)):
            self._answer(400, {"ok": False, "error_code": 400, "description": f"Bad Request: {problem}"})
            return
        if method == "sendMessage" and script.is_over_limit():
            self._answer(429, TOO_MANY)
            return
        self._answer(200, {"ok": True, "result": METHODS.get(method, _nothing)(script, body)})

    def _answer(self, status: int, document: Mapping[str, Any]) -> None:
        self.respond(status, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _set_webhook(script: BotScript, body: dict[str, Any]) -> bool:
    script.webhook = body
    return True


def _delete_webhook(script: BotScript, body: dict[str, Any]) -> bool:
    script.webhook = {}
    return True


def _webhook_info(script: BotScript, body: dict[str, Any]) -> dict[str, Any]:
    return {"url": script.webhook.get("url", ""), "pending_update_count": 0, "has_custom_certificate": False}


def _send_message(script: BotScript, body: dict[str, Any]) -> dict[str, Any]:
    script.sent += 1
    script.delivered.append(body)
    return {"message_id": 900 + script.sent, "date": 1, "chat": {"id": body["chat_id"]}, "text": body["text"]}


def _send_file(script: BotScript, body: dict[str, Any]) -> dict[str, Any]:
    script.sent += 1
    return {"message_id": 900 + script.sent, "date": 1, "chat": {"id": int(body["chat_id"])}}


def _file_problem(script: BotScript, body: dict[str, Any]) -> str:
    content = script.files.get(body["file_id"])
    if content is None:
        return "invalid file_id"
    return "file is too big" if len(content) > 20_000_000 else ""


def _get_file(script: BotScript, body: dict[str, Any]) -> dict[str, Any]:
    id = body["file_id"]
    return {
        "file_id": id,
        "file_unique_id": id,
        "file_size": len(script.files[id]),
        "file_path": script.file_path.format(id=id),
    }


def _nothing(script: BotScript, body: dict[str, Any]) -> bool:
    return True


METHODS: dict[str, Callable[[BotScript, dict[str, Any]], Any]] = {
    "setWebhook": _set_webhook,
    "deleteWebhook": _delete_webhook,
    "getWebhookInfo": _webhook_info,
    "sendMessage": _send_message,
    "sendPhoto": _send_file,
    "sendDocument": _send_file,
    "getFile": _get_file,
    "getMe": lambda script, body: BOT,
}


class TelegramServer(LocalServer):
    def __init__(self) -> None:
        super().__init__(_Visit)
        self.script = BotScript()
        self.url = self.origin
