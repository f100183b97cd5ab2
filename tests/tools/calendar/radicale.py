"""A real CalDAV server (Radicale) in a separate process, with one user and any number of calendars."""

from __future__ import annotations

import subprocess
import sys
import uuid
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests.processes import _answers, free_port, until

USER, PASSWORD = "anna", "canary-password-of-the-calendar"

ZONES = """\
BEGIN:VTIMEZONE
TZID:Europe/Rome
BEGIN:DAYLIGHT
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VTIMEZONE
TZID:America/New_York
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:-0500
TZOFFSETTO:-0500
END:STANDARD
END:VTIMEZONE""".splitlines()
MAKE = """<?xml version="1.0"?><C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"/>"""


@dataclass(frozen=True)
class Calendar:
    """A calendar on the server, as its owner's client sees it."""

    port: int
    path: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def ask(self, method: str, name: str = "", body: str = "", **headers: str) -> tuple[int, str]:
        credentials = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            sent = {"Authorization": f"Basic {credentials}", "Content-Type": "text/calendar", **headers}
            connection.request(method, f"{self.path}{name}", body.encode(), sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def add(self, *lines: str, uid: str = "") -> str:
        """Write an event of these lines, and return its name."""
        uid = uid or uuid.uuid4().hex
        event = ["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20261101T000000Z", "SUMMARY:Private", *lines, "END:VEVENT"]
        document = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//x//EN", *ZONES, *event, "END:VCALENDAR", ""]
        status, text = self.ask("PUT", f"{uid}.ics", "\r\n".join(document))
        assert status == 201, text
        return f"{uid}.ics"

    def whole(self) -> str:
        """Return the calendar as one document."""
        status, text = self.ask("GET")
        assert status == 200
        return text.replace("\r\n ", "")

    def events(self) -> list[dict[str, str]]:
        """Return the events, each as a mapping of its lines."""
        blocks = self.whole().split("BEGIN:VEVENT")[1:]
        return [dict(line.partition(":")[::2] for line in block.split("\r\n") if ":" in line) for block in blocks]


@dataclass(frozen=True)
class Radicale:
    port: int

    def calendar(self) -> Calendar:
        """Create an empty calendar."""
        made = Calendar(self.port, f"/{USER}/{uuid.uuid4().hex}/")
        status, text = made.ask("MKCALENDAR", body=MAKE, **{"Content-Type": "application/xml"})
        assert status == 201, text
        return made


@contextmanager
def radicale(directory: Path) -> Iterator[Radicale]:
    users = directory / "users"
    users.write_text(f"{USER}:{PASSWORD}\n")
    port = free_port()
    options = {
        "server-hosts": f"127.0.0.1:{port}",
        "auth-type": "htpasswd",
        "auth-htpasswd-filename": str(users),
        "auth-htpasswd-encryption": "plain",
        "auth-delay": "0",
        "storage-filesystem-folder": str(directory / "collections"),
        "logging-level": "warning",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with (directory / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", "radicale", "-C", "", *arguments], stdout=log, stderr=log)
        try:
            until(lambda: process.poll() is not None or _answers(port), what="Radicale’s port")
            assert process.poll() is None, (directory / "log").read_text()
            yield Radicale(port)
        finally:
            process.kill()
            process.wait()
