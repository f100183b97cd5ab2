"""The outside world: a real HTTP server that logs every request and answers as a test specifies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import connections

from tests.local_server import LocalServer, QuietHandler


@dataclass(frozen=True)
class Heard:
    """One complete request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers.get("idempotency-key", "")

    @property
    def document(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True)
class Answers:
    """The answer to one request: wait `hangs` seconds; `cuts` closes the connection inside the body, `drops` before it."""

    status: int = 200
    body: str = '{"ok": true}'
    headers: dict[str, str] = field(default_factory=dict)
    hangs: float = 0
    cuts: bool = False
    drops: bool = False


class Target:
    """A target with answers taken in order, the last one repeated, or with a function called per request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.log: list[Heard] = []
        self.on_request: Callable[[Heard], Any] = lambda heard: None
        self._answers: list[Answers] = [Answers()]
        self._choose: Callable[[Heard], Answers] | None = None
        self._lock = threading.Lock()

    def answers(self, *answers: Answers) -> None:
        self._answers, self._choose = list(answers), None

    def answers_by(self, choose: Callable[[Heard], Answers]) -> None:
        self._choose = choose

    def keys(self) -> list[str]:
        with self._lock:
            return [heard.key for heard in self.log]

    def hear(self, heard: Heard) -> Answers:
        with self._lock:
            self.log.append(heard)
            if self._choose is not None:
                return self._choose(heard)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def tell(self, heard: Heard) -> None:
        """Run the test's callback during a request. The request's thread returns its connections first."""
        try:
            self.on_request(heard)
        finally:
            connections.close_all()


class _Server(LocalServer):
    def __init__(self, host: str) -> None:
        super().__init__(_Handler, host)
        self.target = Target(self.origin)


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        heard = Heard(method=self.command, path=self.path, headers=headers, body=body)
        answer = self.server.target.hear(heard)
        self.server.target.tell(heard)
        with suppress(ConnectionError):
            self._answer(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _answer(self, answer: Answers) -> None:
        self.close_connection = True
        if answer.hangs:
            time.sleep(answer.hangs)
        if answer.drops:
            return
        data = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if answer.cuts else data)


@contextmanager
def target_server(host: str = "127.0.0.1") -> Iterator[Target]:
    with _Server(host) as server:
        yield server.target
