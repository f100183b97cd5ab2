"""A CalDAV server with scripted responses that records its requests, for behavior that no real server shows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from threading import Barrier, Event
from types import TracebackType

from tests.local_server import LocalServer, RawHandler, RawRequest

EMPTY = b'<?xml version="1.0"?><multistatus xmlns="DAV:"/>'


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
    requests: list[RawRequest] = field(default_factory=list)
    is_over: Event = field(default_factory=Event)
    together: Barrier = field(default_factory=lambda: Barrier(1))

    def __enter__(self) -> ScriptedCalendar:
        self._server = LocalServer(_Visit)
        self._server.calendar = self  # type: ignore[attr-defined]
        self._server.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.is_over.set()
        self._server.__exit__()

    @property
    def url(self) -> str:
        return f"{self._server.origin}/c/"

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]

    def answer(self, status: int, body: bytes = b"") -> None:
        self.answers = [(status, body)]


class _Visit(RawHandler):
    def handle(self) -> None:
        with suppress(OSError, ValueError):
            self._answer(self.server.calendar)  # type: ignore[attr-defined]

    def _answer(self, calendar: ScriptedCalendar) -> None:
        calendar.requests.append(self.read_request())
        calendar.together.wait(30)
        answer = calendar.answers.pop(0) if len(calendar.answers) > 1 else calendar.answers[0]
        if answer is None:
            calendar.is_over.wait(30)
            return
        status, body = answer
        self.respond(status, body, {})
