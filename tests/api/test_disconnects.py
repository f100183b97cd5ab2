"""A client that disconnects during its request: it runs to the end or not at all, without a server error."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from config.asgi import application
from projects.api.parsers import StrictJSONParser
from projects.models import Attribute
from tests.api.live import serve
from tests.conftest import Tenant
from tests.processes import until

pytestmark = pytest.mark.urls("tests.api.edge")


class Visit:
    """A server, and a client whose request is stopped in the view before the body is read."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant
        self.in_view, self.left, self.go_on = (threading.Event() for _ in range(3))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await application(scope, receive, send)
        self.left.set()

    def hold(self, parser: Any, stream: Any, *rest: Any) -> Any:
        self.in_view.set()
        self.go_on.wait(60)
        return _parse(parser, stream, *rest)

    def leave(self, body: bytes) -> None:
        """Send a request and disconnect while the view holds it. The server notices before the view continues."""
        with serve(self) as address, closing(socket.create_connection(address, timeout=30)) as connection:
            head = f"POST /api/v1/notes HTTP/1.1\r\nHost: testserver\r\nAuthorization: Bearer {self.tenant.key}\r\n"
            length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(f"{head}{length}".encode() + body)
            assert self.in_view.wait(30)
            connection.close()
            assert self.left.wait(30)
            self.go_on.set()

    def notes(self) -> list[Any]:
        with self.tenant.tx():
            return list(Attribute.objects.filter(key__startswith="note-").values_list("value", flat=True))


_parse = StrictJSONParser.parse


@pytest.fixture
def visit(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    visit = Visit(tenant)
    monkeypatch.setattr(StrictJSONParser, "parse", lambda *given: visit.hold(*given))
    yield visit
    visit.go_on.set()


def test_a_started_request_finishes_after_its_client_disconnects(
    visit: Visit, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    visit.leave(json.dumps({"content": "said before leaving"}).encode())
    until(lambda: visit.notes() or caplog.records)
    assert (visit.notes(), caplog.messages) == (["said before leaving"], [])
