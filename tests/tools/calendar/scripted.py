"""A CalDAV server with scripted responses that records its requests, for behavior that no real server shows."""

from __future__ import annotations

import socketserver
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Barrier, Event, Thread
from types import TracebackType

EMPTY = b'<?xml version="1.0"?><multistatus xmlns="DAV:"/>'


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def multistatus(*documents: str) -> bytes:
    """Return the calendar-query response with these calendar documents."""
    rows = "".join(
        f"<response><href>/c/{number}.ics</href><propstat><prop><C:calendar-data>{document}</C:calendar-data></prop>"
        "<status>HTTP/1.1 200 OK</status></propstat></response>"
        for number, document in enumerate(documents)
    )
    head = '<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
    return f"{head}{rows}</multistatus>".encode()


def document(*lines: str) -> str:
    """Return a calendar document with one event of these lines."""
    return "\r\n".join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:x", *lines, "END:VEVENT", "END:VCALENDAR"])


@dataclass
class ScriptedCalendar:
    """`answers` are sent in order, the last one repeatedly; None never responds. `together` delays each response until
    that many requests have arrived.
    """

    answers: list[tuple[int, bytes] | None] = field(default_factory=lambda: [(207, EMPTY)])
    requests: list[Request] = field(default_factory=list)
    is_over: Event = field(default_factory=Event)
    together: Barrier = field(default_factory=lambda: Barrier(1))

    def __enter__(self) -> ScriptedCalendar:
        self._server = _Server(("127.0.0.1", 0), _Visit)
        self._server.calendar = self
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/c/"

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]

    def answer(self, status: int, body: bytes = b"") -> None:
        self.answers = [(status, body)]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    calendar: ScriptedCalendar


class _Visit(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        with suppress(OSError, ValueError):
            self._answer(self.server.calendar)  # type: ignore[attr-defined]

    def _answer(self, calendar: ScriptedCalendar) -> None:
        calendar.requests.append(self._read())
        calendar.together.wait(30)
        answer = calendar.answers.pop(0) if len(calendar.answers) > 1 else calendar.answers[0]
        if answer is None:
            calendar.is_over.wait(30)
            return
        status, body = answer
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
        self.wfile.write(body)

    def _read(self) -> Request:
        method, path, _ = self.rfile.readline().decode("ascii").split()
        headers: dict[str, str] = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        return Request(method, path, headers, body)
