"""CalDAV client (RFC 4791): four requests, each limited in time and size."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from outbound.errors import OutboundError, Unreadable
from outbound.fair_threads import FairThreads
from outbound.guard import Guard, Response
from outbound.tenant import current_tenant
from projects.connections.integrations import Connection
from projects.connections.settings.caldav import CalDavSettings
from tools.services.bookings.opening import Span
from tools.services.calendar.busy import UnreadableCalendar, busy_spans
from tools.services.calendar.multistatus import (
    CALDAV,
    DAV,
    InvalidMultistatus,
    Resource,
    qualified_name,
    read_multistatus,
)

R = TypeVar("R")

# Deadlines of a request, from name resolution to the last byte, and of a busy query, including parsing.
ANSWERED_WITHIN_S, SEEN_WITHIN_S = 4.0, 5.0
MOST_BYTES = 2 * 1024 * 1024
XML = "application/xml; charset=utf-8"
ICALENDAR = "text/calendar; charset=utf-8"
CALENDAR_DATA = qualified_name(CALDAV, "calendar-data")
RESOURCE_TYPE, PRIVILEGES = qualified_name(DAV, "resourcetype"), qualified_name(DAV, "current-user-privilege-set")
MAY_WRITE = {qualified_name(DAV, name) for name in ("all", "write", "write-content", "bind")}
HINTS = {
    404: "There is no calendar at this address (404). Copy the address of the calendar itself, not of its server.",
    405: "There is no CalDAV at this address (405). Copy the address of the calendar itself.",
    410: "The calendar was removed (410).",
    429: "The calendar’s server is limiting requests (429). Try again later.",
}

INFO_QUERY = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:current-user-privilege-set/></D:prop></D:propfind>"""

# Requests events only, with recurrences expanded by the server.
EVENTS_QUERY = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data>
<C:expand start="{starts}" end="{ends}"/></C:calendar-data></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="{starts}" end="{ends}"/>
</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"""

# Reading a thousand events takes a quarter of a second, which would block the event loop. The threads are of its own, so
# that a tenant with a large calendar delays no one's look-ups of names and no other tenant's calendar.
_threads = FairThreads(4, name="calendar")


class CalendarFailed(Exception):
    """The calendar did not respond as one; the message says why, for staff."""


class SignInRefused(CalendarFailed):
    """The calendar server rejected the user name or password. Connect the calendar again."""


@dataclass(frozen=True)
class CalendarInfo:
    """Properties of the calendar. `may_write` is None if the server does not report privileges."""

    is_calendar: bool
    may_write: bool | None


class Calendar:
    """Client for a project's calendar. Only busy times are kept of a response. No transaction may be open."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, CalDavSettings):
            raise TypeError("This connection is no calendar.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def event_url(self, name: str) -> str:
        """Return the URL of an event. It contains no secret."""
        return f"{self._settings.url}{name}"

    async def info(self) -> CalendarInfo:
        """Return the properties of the configured URL. Raises CalendarFailed."""
        resources = await self._resources("PROPFIND", INFO_QUERY, depth="0")
        this = resources[0] if resources else Resource()
        privileges = this.inside.get(PRIVILEGES)
        return CalendarInfo(
            is_calendar=qualified_name(CALDAV, "calendar") in this.inside.get(RESOURCE_TYPE, set()),
            may_write=None if privileges is None else bool(privileges & MAY_WRITE),
        )

    async def busy(self, window: Span, *, zone: ZoneInfo, project_id: UUID) -> list[Span]:
        """Return the busy spans within a window, without the project's own bookings. Raises CalendarFailed."""
        query = EVENTS_QUERY.format(starts=_utc(window.starts_at), ends=_utc(window.ends_at)).encode()
        try:
            async with asyncio.timeout(SEEN_WITHIN_S):
                resources = await self._resources("REPORT", query, depth="1")
                documents = [resource.texts.get(CALENDAR_DATA, "") for resource in resources]
                return await _in_thread(partial(busy_spans, documents, window, zone=zone, project_id=project_id))
        except TimeoutError:
            raise CalendarFailed("The calendar took too long to read.") from None
        except UnreadableCalendar as error:
            raise CalendarFailed(str(error)) from None

    async def put(self, name: str, event: bytes, *, is_new: bool) -> Response:
        """Write an event. With `is_new`, the server responds 412 instead of overwriting. Raises OutboundError."""
        more = {"If-None-Match": "*"} if is_new else {}
        return await self._send("PUT", self.event_url(name), event, {"Content-Type": ICALENDAR, **more})

    async def delete(self, name: str) -> Response:
        """Delete an event. Raises OutboundError."""
        return await self._send("DELETE", self.event_url(name), None, {})

    async def _resources(self, method: str, query: bytes, *, depth: str) -> Sequence[Resource]:
        try:
            answer = await self._send(method, self._settings.url, query, {"Content-Type": XML, "Depth": depth})
        except Unreadable as error:
            raise CalendarFailed(f"The calendar’s response can’t be read: {error}") from None
        except OutboundError as error:
            raise CalendarFailed(f"The calendar couldn’t be reached: {error}") from None
        if is_sign_in_refused(answer):
            raise SignInRefused(SignInRefused.__doc__)
        if answer.status != 207:
            raise CalendarFailed(describe_status(answer.status))
        if answer.truncated:
            raise CalendarFailed("The calendar’s response is larger than 2 MB.")
        try:
            return await _in_thread(partial(read_multistatus, answer.body))
        except InvalidMultistatus as error:
            raise CalendarFailed(f"The calendar’s response is not CalDAV: {error}") from None

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


def is_sign_in_refused(answer: Response) -> bool:
    """Return True if the server rejects the credentials or the account's permissions. A 403 that names a CalDAV
    precondition concerns the request instead.
    """
    return answer.status == 401 or (answer.status == 403 and CALDAV.encode() not in answer.body)


def describe_status(status: int) -> str:
    """Explain an unexpected status to staff."""
    if 300 <= status < 400:
        return "The calendar’s server redirects to another address. Connect that one."
    if 200 <= status < 300:
        return "There is no calendar at this address."
    return HINTS.get(status, f"The calendar’s server responded with {status}.")


async def _in_thread(function: Callable[[], R]) -> R:
    return await asyncio.wrap_future(_threads.submit(current_tenant(), function))


def _utc(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"
