"""A project's calendar, asked over CalDAV: four requests, each bounded in time and size (RFC 4791, F17)."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from outbound.errors import OutboundError, Unreadable
from outbound.guard import Guard, Response
from projects.connections.integration_settings import CalDavSettings
from projects.connections.integrations import Connection
from tools.services.bookings.opening import Span
from tools.services.calendar.busy import NotUnderstood, busy_spans
from tools.services.calendar.multistatus import CALDAV, DAV, NoMultistatus, Resource, named, read_multistatus

# A request, from the first look-up of the name to the last byte of the answer; a look, with what it takes to read it.
ANSWERED_WITHIN_S, SEEN_WITHIN_S = 4.0, 5.0
MOST_BYTES = 2 * 1024 * 1024
XML = "application/xml; charset=utf-8"
ICALENDAR = "text/calendar; charset=utf-8"
CALENDAR_DATA = named(CALDAV, "calendar-data")
RESOURCE_TYPE, PRIVILEGES = named(DAV, "resourcetype"), named(DAV, "current-user-privilege-set")
MAY_WRITE = {named(DAV, name) for name in ("all", "write", "write-content", "bind")}
HINTS = {
    404: "There is no calendar at this address (404). Copy the address of the calendar itself, not of its server.",
    405: "Nothing at this address speaks CalDAV (405). Copy the address of the calendar itself.",
    410: "The calendar was removed (410).",
    429: "The calendar’s server takes no more just now (429).",
}

ABOUT = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:current-user-privilege-set/></D:prop></D:propfind>"""

# Only what is read of an event is asked for, expanded: one event for each time of a series.
EVENTS = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data>
<C:expand start="{starts}" end="{ends}"/></C:calendar-data></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="{starts}" end="{ends}"/>
</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"""


class CalendarFailed(Exception):
    """The calendar didn't answer as one; the text says why, for staff."""


class SignInRefused(CalendarFailed):
    """The calendar’s server refuses the user name or the password; connect it again."""


@dataclass(frozen=True)
class About:
    """What a calendar says of itself. `may_write` is None where it doesn't say."""

    is_calendar: bool
    may_write: bool | None


class Calendar:
    """A project's calendar. Nothing is kept of an answer but when it is taken. No transaction may be open."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, CalDavSettings):
            raise TypeError("This connection is no calendar.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def url_of(self, name: str) -> str:
        """The address of one event. It carries no secret."""
        return f"{self._settings.url}{name}"

    async def about(self) -> About:
        """What stands at the address. Raises CalendarFailed."""
        resources = await self._resources("PROPFIND", ABOUT, depth="0")
        this = resources[0] if resources else Resource()
        privileges = this.inside.get(PRIVILEGES)
        return About(
            is_calendar=named(CALDAV, "calendar") in this.inside.get(RESOURCE_TYPE, set()),
            may_write=None if privileges is None else bool(privileges & MAY_WRITE),
        )

    async def busy(self, window: Span, *, zone: ZoneInfo, project_id: UUID) -> list[Span]:
        """When it is taken within a window by anything but the project's own bookings. Raises CalendarFailed."""
        query = EVENTS.format(starts=_utc(window.starts_at), ends=_utc(window.ends_at)).encode()
        try:
            async with asyncio.timeout(SEEN_WITHIN_S):
                resources = await self._resources("REPORT", query, depth="1")
                documents = [resource.texts.get(CALENDAR_DATA, "") for resource in resources]
                # Reading a thousand events takes a quarter of a second, in which others' replies would stand still.
                return await asyncio.to_thread(busy_spans, documents, window, zone=zone, project_id=project_id)
        except TimeoutError:
            raise CalendarFailed("Reading the calendar’s answer takes too long.") from None
        except NotUnderstood as error:
            raise CalendarFailed(str(error)) from None

    async def put(self, name: str, event: bytes, *, is_new: bool) -> Response:
        """Write an event; `is_new` refuses with 412 to write over another. Raises OutboundError."""
        more = {"If-None-Match": "*"} if is_new else {}
        return await self._send("PUT", self.url_of(name), event, {"Content-Type": ICALENDAR, **more})

    async def delete(self, name: str) -> Response:
        """Take an event out. Raises OutboundError."""
        return await self._send("DELETE", self.url_of(name), None, {})

    async def _resources(self, method: str, query: bytes, *, depth: str) -> Sequence[Resource]:
        try:
            answer = await self._send(method, self._settings.url, query, {"Content-Type": XML, "Depth": depth})
        except Unreadable as error:
            raise CalendarFailed(f"The calendar’s answer can’t be read: {error}") from None
        except OutboundError as error:
            raise CalendarFailed(f"The calendar couldn’t be asked: {error}") from None
        if is_refused(answer):
            raise SignInRefused(SignInRefused.__doc__)
        if answer.status != 207:
            raise CalendarFailed(refusal_of(answer.status))
        if answer.truncated:
            raise CalendarFailed("The calendar’s answer is longer than 2 MB.")
        try:
            return await asyncio.to_thread(read_multistatus, answer.body)
        except NoMultistatus as error:
            raise CalendarFailed(f"The calendar’s answer is no CalDAV: {error}") from None

    async def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        self._settings.check_server(self._guard)
        credentials = b64encode(f"{self._settings.user}:{self._secret}".encode()).decode()
        return await self._guard.request(
            method,
            url,
            headers={"Authorization": f"Basic {credentials}", **headers},
            body=body,
            deadline_s=ANSWERED_WITHIN_S,
            max_bytes=MOST_BYTES,
        )


def is_refused(answer: Response) -> bool:
    """Whether the server takes our sign-in no more, or lets the account no longer do this (F17). A 403 that names a rule
    of CalDAV is about the request.
    """
    return answer.status == 401 or (answer.status == 403 and CALDAV.encode() not in answer.body)


def refusal_of(status: int) -> str:
    """What an answer other than the expected means, for staff."""
    if 300 <= status < 400:
        return "The calendar’s server sends us to another address; connect the calendar with that one."
    if 200 <= status < 300:
        return "Something else than a calendar answers at this address."
    return HINTS.get(status, f"The calendar’s server answered {status}.")


def _utc(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"
