"""A real HTTP server in this process, and a simple client for it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

Address = tuple[str, int]


@contextmanager
def serve(app: Any, *, http: Any = "httptools") -> Iterator[Address]:
    """Serve the application on a free loopback port."""
    config = uvicorn.Config(
        app, port=0, http=http, log_level="critical", ws="none", lifespan="off", proxy_headers=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield server.servers[0].sockets[0].getsockname()[:2]
    finally:
        server.should_exit = True
        thread.join()


@dataclass(frozen=True)
class Reply:
    """A complete response."""

    status: int
    headers: dict[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, Any]:
        """The error, after checking its shape."""
        assert self.headers["content-type"].startswith("application/json"), self.text[:200]
        body = self.json()
        assert list(body) == ["error"]
        assert set(body["error"]) == {"code", "message", "field", "request_id"}
        assert body["error"]["request_id"] == self.headers["x-request-id"]
        return body["error"]  # type: ignore[no-any-return]

    @property
    def timeless_error(self) -> dict[str, Any]:
        """The error without the parts that differ between requests."""
        return {**self.error, "request_id": ""}


@dataclass
class Caller:
    """Calls the API with a key."""

    address: Address
    key: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        known = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **self.headers, **named}
        with closing(http.client.HTTPConnection(*self.address, timeout=30)) as connection:
            connection.request(method, f"/api/v1{path}", body, known)
            answer = connection.getresponse()
            lower = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, lower, answer.read().decode())

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        return self.send("POST", path, json.dumps(body).encode(), **headers)

    def first_event(self, path: str, **headers: str) -> dict[str, Any]:
        """The first event of a stream as `{"event", "id", "data"}`. Comments and `retry` are skipped."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection(*self.address, timeout=30)) as connection:
            connection.request("GET", f"/api/v1{path}", None, {"Authorization": f"Bearer {self.key}", **named})
            # The socket closes only once the response is closed, too.
            with closing(connection.getresponse()) as stream:
                return _read_event(stream)


def _read_event(stream: http.client.HTTPResponse) -> dict[str, Any]:
    event: dict[str, Any] = {}
    while line := stream.readline().decode():
        name, _, value = line.rstrip("\n").partition(": ")
        if name in ("event", "id"):
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)
        elif not name and "data" in event:
            return event
    raise AssertionError(f"the stream ended: {stream.status}")
