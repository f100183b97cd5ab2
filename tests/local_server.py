"""Servers of the tests' own, for programs that answer as a provider documents or as a test says."""

from __future__ import annotations

import socketserver
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any, Self


class LocalServer(socketserver.ThreadingTCPServer):
    """A server on a free port, one thread per connection. It serves inside of its `with` block."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[socketserver.BaseRequestHandler], host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), handler)
        self.port: int = self.server_address[1]
        self.origin = f"http://{host}:{self.port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnected is not an error."""

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()


@dataclass(frozen=True)
class RawRequest:
    """A request as received. `target` is the path with its query; the names of `headers` are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class RawHandler(socketserver.StreamRequestHandler):
    """HTTP by hand, for responses that a library wouldn't send. One request per connection."""

    def read_request(self) -> RawRequest:
        method, target, _ = self.rfile.readline().decode("ascii").split()
        headers: dict[str, str] = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return RawRequest(method, target, headers, self.rfile.read(int(headers.get("content-length", "0"))))

    def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        lines = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.wfile.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)

    def finish(self) -> None:
        # The client may have disconnected.
        with suppress(OSError, ValueError):
            super().finish()


class QuietHandler(BaseHTTPRequestHandler):
    """The library's handler, without its log."""

    def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass
