"""Busy times of a real calendar: recurring events, whole days, time zones and both clock changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from projects.connections.integrations import open_source
from tests.tools.bookings.conftest import Bookings, rome
from tests.tools.calendar.conftest import CALDAV
from tests.tools.calendar.radicale import Calendar
from tools.services.bookings.opening import Span
from tools.services.calendar.availability import calendar_client
from tools.services.calendar.event import event_uid

ROME = "TZID=Europe/Rome"
# The clocks go back on 25 October 2026, and forward on 28 March 2027.
AUTUMN = Span(datetime(2026, 10, 20, tzinfo=UTC), datetime(2026, 11, 5, tzinfo=UTC))
SPRING = Span(datetime(2027, 3, 22, tzinfo=UTC), datetime(2027, 4, 5, tzinfo=UTC))
NOVEMBER = Span(datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 12, 8, tzinfo=UTC))


def taken(bookings: Bookings, window: Span) -> list[str]:
    """Return the connected calendar's busy times, in Rome's local time."""
    with bookings.tenant.tx():
        connection = open_source(bookings.tenant.project.pk, CALDAV.name)
    assert connection is not None
    zone = ZoneInfo("Europe/Rome")
    asked = calendar_client(connection).busy(window, zone=zone, project_id=bookings.tenant.project.pk)
    return [f"{_local(span.starts_at)}-{_local(span.ends_at)}" for span in asyncio.run(asked)]


def _local(moment: datetime) -> str:
    return f"{moment.astimezone(ZoneInfo('Europe/Rome')):%d.%m %H:%M}"


@pytest.mark.parametrize(
    ("lines", "window", "found"),
    [
        (("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z"), NOVEMBER, ["27.11 19:00-27.11 20:00"]),
        (("DTSTART;TZID=America/New_York:20261127T130000", "DURATION:PT90M"), NOVEMBER, ["27.11 19:00-27.11 20:30"]),
        (("DTSTART:20261127T190000", "DTEND:20261127T200000"), NOVEMBER, ["27.11 19:00-27.11 20:00"]),
        (("DTSTART;VALUE=DATE:20261127",), NOVEMBER, ["27.11 00:00-28.11 00:00"]),
        (("DTSTART;VALUE=DATE:20261127", "DTEND;VALUE=DATE:20261129"), NOVEMBER, ["27.11 00:00-29.11 00:00"]),
        (("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z", "TRANSP:TRANSPARENT"), NOVEMBER, []),
        (("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z", "STATUS:CANCELLED"), NOVEMBER, []),
        (
            ("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z", "STATUS:TENTATIVE"),
            NOVEMBER,
            ["27.11 19:00-27.11 20:00"],
        ),
        (("DTSTART:20261127T180000Z",), NOVEMBER, []),
        (("DTSTART:20261220T180000Z", "DTEND:20261220T190000Z"), NOVEMBER, []),
        (
            (f"DTSTART;{ROME}:20260903T090000", f"DTEND;{ROME}:20260903T100000", "RRULE:FREQ=WEEKLY"),
            AUTUMN,
            ["22.10 09:00-22.10 10:00", "29.10 09:00-29.10 10:00"],
        ),
        (
            (f"DTSTART;{ROME}:20260903T090000", f"DTEND;{ROME}:20260903T100000", "RRULE:FREQ=WEEKLY"),
            SPRING,
            ["25.03 09:00-25.03 10:00", "01.04 09:00-01.04 10:00"],
        ),
        (
            (f"DTSTART;{ROME}:20261022T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY", f"EXDATE;{ROME}:20261029T090000"),
            AUTUMN,
            ["22.10 09:00-22.10 10:00"],
        ),
        (("DTSTART;VALUE=DATE:20251025", "RRULE:FREQ=YEARLY"), AUTUMN, ["25.10 00:00-26.10 00:00"]),
        (("DTSTART;VALUE=DATE:20250328", "RRULE:FREQ=YEARLY"), SPRING, ["28.03 00:00-29.03 00:00"]),
    ],
    ids=[
        "in UTC",
        "another zone, by its length",
        "no zone is the business's own",
        "a whole day",
        "two whole days",
        "transparent",
        "cancelled",
        "tentative",
        "without a length",
        "outside the window",
        "a series without end, as clocks go back",
        "the same as clocks go forward",
        "a series with an exception",
        "a whole day of 25 hours",
        "a whole day of 23 hours",
    ],
)
def test_an_event_blocks_its_time(
    bookings: Bookings, calendar: Calendar, lines: tuple[str, ...], window: Span, found: list[str]
) -> None:
    calendar.add(*lines)
    assert taken(bookings, window) == found


def test_an_occurrence_of_a_series_can_be_moved(bookings: Bookings, calendar: Calendar) -> None:
    calendar.add(
        f"DTSTART;{ROME}:20261022T090000",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "UID:weekly",
        "DTSTAMP:20261101T000000Z",
        f"RECURRENCE-ID;{ROME}:20261029T090000",
        f"DTSTART;{ROME}:20261029T150000",
        "DURATION:PT2H",
        uid="weekly",
    )
    assert taken(bookings, AUTUMN) == ["22.10 09:00-22.10 10:00", "29.10 15:00-29.10 17:00"]


def test_adjacent_events_are_merged(bookings: Bookings, calendar: Calendar) -> None:
    calendar.add("DTSTART:20261127T180000Z", "DTEND:20261127T200000Z")
    calendar.add("DTSTART:20261127T190000Z", "DTEND:20261127T193000Z")
    calendar.add("DTSTART:20261127T200000Z", "DTEND:20261127T210000Z")
    assert taken(bookings, NOVEMBER) == ["27.11 19:00-27.11 22:00"]


def test_our_own_events_are_ignored_but_another_projects_are_not(bookings: Bookings, calendar: Calendar) -> None:
    """Our bookings come from the database. Two projects may share a calendar."""
    booking = bookings.book(rome(27, "19:00"))
    calendar.add("DTSTART:20261127T180000Z", "DTEND:20261127T193000Z", uid=event_uid(booking))
    assert taken(bookings, NOVEMBER) == []
    booking.project_id = uuid4()
    calendar.add("DTSTART:20261128T180000Z", "DTEND:20261128T193000Z", uid=event_uid(booking))
    assert taken(bookings, NOVEMBER) == ["28.11 19:00-28.11 20:30"]
