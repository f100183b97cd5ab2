"""A small reader of server-sent events over a real socket."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.conftest import Tenant


@dataclass(frozen=True)
class Sent:
    """One event as received."""

    id: int | None
    event: str
    data: Any


class Reader:
    """Reads one open stream."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response

    def __iter__(self) -> Iterator[Sent]:
        fields: dict[str, str] = {}
        for raw in self._response:
            line = raw.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "event" in fields:
                number = int(fields["id"]) if "id" in fields else None
                yield Sent(id=number, event=fields["event"], data=json.loads(fields["data"]))
                fields = {}

    def until(self, event: str) -> list[Sent]:
        """All events up to and including the first of this name."""
        seen = []
        for sent in self:
            seen.append(sent)
            if sent.event == event:
                return seen
        raise AssertionError(f"The stream ended before {event}: {[sent.event for sent in seen]}")


@contextmanager
def open_stream(base_url: str, tenant: Tenant, path: str, **headers: str) -> Iterator[Reader]:
    yield from _open("GET", base_url, tenant, path, None, headers)


@contextmanager
def post_for_stream(base_url: str, tenant: Tenant, path: str, body: dict[str, Any], **more: str) -> Iterator[Reader]:
    headers = {"Accept": "text/event-stream", "Content-Type": "application/json", **more}
    yield from _open("POST", base_url, tenant, path, json.dumps(body), headers)


def _open(
    method: str, base_url: str, tenant: Tenant, path: str, body: str | None, headers: dict[str, str]
) -> Iterator[Reader]:
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=30)
    try:
        connection.request(method, f"/api/v1{path}", body=body, headers={**tenant.headers, **headers})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        yield Reader(response)
    finally:
        connection.close()
