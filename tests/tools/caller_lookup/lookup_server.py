"""A business's own caller directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event

from tests.local_server import LocalServer, RawHandler


@dataclass
class Script:
    """The next response, and the recorded requests: raw targets and headers."""

    status: int = 200
    body: bytes = b"Anna Bianchi, a regular since 2019. Allergic to nuts."
    headers: Mapping[str, str] = field(default_factory=dict)
    may_answer: Event = field(default_factory=Event)
    targets: list[str] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)


class _Visit(RawHandler):
    def handle(self) -> None:
        script: Script = self.server.script  # type: ignore[attr-defined]
        request = self.read_request()
        script.targets.append(f"{request.method} {request.target}")
        script.heads.append(request.headers)
        script.may_answer.wait(30)
        self.respond(script.status, script.body, script.headers)


class LookupServer(LocalServer):
    def __init__(self) -> None:
        super().__init__(_Visit)
        self.script = Script()
        self.script.may_answer.set()
        self.url = f"{self.origin}/callers"

    def __exit__(self, *exc: object) -> None:
        self.script.may_answer.set()
        super().__exit__(*exc)
