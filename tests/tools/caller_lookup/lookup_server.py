"""A business's own caller directory."""

from __future__ import annotations

import socketserver
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread


@dataclass
class Script:
    """The next response, and the recorded requests: raw targets and headers."""

    status: int = 200
    body: bytes = b"Anna Bianchi, a regular since 2019. Allergic to nuts."
    headers: Mapping[str, str] = field(default_factory=dict)
    may_answer: Event = field(default_factory=Event)
    targets: list[str] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)


class _Visit(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        script: Script = self.server.script  # type: ignore[attr-defined]
        method, target, _ = self.rfile.readline().decode("ascii").split()
        headers: dict[str, str] = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        script.targets.append(f"{method} {target}")
        script.heads.append(headers)
        script.may_answer.wait(30)
        lines = {"Content-Length": str(len(script.body)), "Connection": "close", **script.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.wfile.write(f"HTTP/1.1 {script.status} X\r\n{head}\r\n".encode() + script.body)

    def finish(self) -> None:
        # The client may have disconnected.
        with suppress(OSError):
            super().finish()


class LookupServer(socketserver.ThreadingTCPServer):
    """Listens on 127.0.0.1, one thread per connection."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.script = Script()
        self.script.may_answer.set()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/callers"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that disconnected is not an error."""

    def __enter__(self) -> LookupServer:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.script.may_answer.set()
        self.shutdown()
        self.server_close()
