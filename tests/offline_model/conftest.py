"""The offline model as a process of its own, and a plain HTTP client for it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

HELLO = [{"role": "user", "content": "Hello"}]


@dataclass(frozen=True)
class Server:
    """Calls of the running server; every call has a connection of its own."""

    host: str
    port: int

    def open(
        self, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """An answer whose body is still to be read."""
        connection = HTTPConnection(self.host, self.port, timeout=10)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", path, data, headers or {})
        return connection, connection.getresponse()

    def call(self, path: str, body: Any = None, **options: Any) -> tuple[int, bytes]:
        connection, response = self.open(path, body, **options)
        with closing(connection), response:
            return response.status, response.read()

    def json(self, path: str, body: Any = None, **options: Any) -> Any:
        return json.loads(self.call(path, body, **options)[1])

    def chat(self, messages: Any = None, **fields: Any) -> Any:
        return self.json("/v1/chat/completions", chat_body(messages, **fields))

    def script(self, *steps: dict[str, Any]) -> None:
        status, body = self.call("/script", list(steps))
        assert status == 200, body

    def log(self) -> Any:
        return self.json("/log")

    def wait_for(self, claim: Callable[[Any], bool]) -> Any:
        """The log as soon as the claim holds for it."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            log = self.log()
            if claim(log):
                return log
            time.sleep(0.01)
        raise AssertionError(f"The claim never held; the log is {log}")


def chat_body(messages: Any = None, **fields: Any) -> dict[str, Any]:
    return {"model": "offline-large", "messages": messages or HELLO, **fields}


@pytest.fixture(scope="session")
def process() -> Iterator[Server]:
    command = [sys.executable, "-m", "offline_model", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().split("//")[1].split("/")[0]
        host, port = address.split(":")
        yield Server(host, int(port))
        running.terminate()


@pytest.fixture
def server(process: Server) -> Iterator[Server]:
    """The server without script, log or latency."""
    process.call("/reset", {})
    yield process
    process.call("/reset", {})
