"""Calendars that are down, slow or hostile: bookings continue, and the agent is told."""

from __future__ import annotations

import threading
from threading import Event

import pytest

from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.scripted import ScriptedCalendar, document, multistatus
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.calendar import caldav_client as calendar_server
from tools.services.calendar.availability import NOT_CHECKED

ASKED = {"date": "2026-11-27", "time": "19:00", "party_size": 4}
TAKEN = ("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z")
LONG_AGO = ("DTSTART:19700101T180000Z", "DTEND:19700101T190000Z")
BOMB = b"""<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<multistatus xmlns="DAV:">&b;</multistatus>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><multistatus xmlns="DAV:">&a;</multistatus>"""


def check(bookings: Bookings) -> Outcome:
    return bookings.run("check_availability_tool", **ASKED)


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (207, b"x" * 10_000_000, "larger than 2 MB"),
        (207, multistatus("BEGIN:VEVENT\nDTSTART:20261127T180000Z\nEND:VEVENT\n" * 100_000), "larger than 2 MB"),
        (207, multistatus("BEGIN:VEVENT\nDTSTART:20261127T180000Z\nEND:VEVENT\n" * 5_000), "more than 1000 events"),
        (207, multistatus(document(*TAKEN, "RRULE:FREQ=SECONDLY")), "unsupported recurrence rule"),
        (207, multistatus(document(*LONG_AGO, "RRULE:FREQ=DAILY;COUNT=99999999")), "It starts on 1 January 1970."),
        (207, multistatus(*[document(*TAKEN, "RRULE:FREQ=DAILY")] * 101), "more than 100 recurring events"),
        (207, multistatus(document(*TAKEN, "RRULE:FREQ=MONTHLY;BYDAY=" + "1MO," * 400_000)), "too large"),
        (207, multistatus(document(*TAKEN * 20_000)), "too large"),
        (207, BOMB, "declares a document type"),
        (207, OUTSIDE, "declares a document type"),
        (207, b'<multistatus xmlns="DAV:">' + b"<a>" * 50_000, "nested too deeply"),
        (207, b'<multistatus xmlns="DAV:">' + b"<a/>" * 50_000, "more than 20,000 elements"),
        (207, b"<html><body>Welcome</body></html>", "not CalDAV"),
        (207, b"\xff\xfe\x00", "not XML"),
        (200, b"Welcome", "no calendar at this address"),
        (301, b"", "another address"),
        (
            403,
            b'<error xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><C:max-instances/></error>',
            "responded with 403",
        ),
        (404, b"", "no calendar at this address"),
        (500, b"", "responded with 500"),
    ],
    ids=[
        "10 MB",
        "100,000 events",
        "too many events",
        "a series that is finer than a day",
        "a series that would have to be counted for long",
        "too many series",
        "a rule of 1.6 MB",
        "an event that begins 20,000 times",
        "an entity bomb",
        "an entity from outside",
        "nested",
        "50,000 elements",
        "no calendar",
        "no XML",
        "a page",
        "moved",
        "a rule of CalDAV",
        "not found",
        "broken",
    ],
)
def test_an_unreadable_response_does_not_limit_bookings(
    bookings: Bookings, scripted: ScriptedCalendar, status: int, body: bytes, problem: str
) -> None:
    """The agent reads that the calendar was not checked, and staff reads why."""
    scripted.answer(status, body)
    outcome = check(bookings)
    assert outcome.ending is Ending.DONE
    assert outcome.told.startswith("Friday 27 November at 19:00: a table for 4 is free.")
    assert outcome.told.endswith(NOT_CHECKED)
    assert problem in outcome.result["calendar"]
    assert scripted.methods == ["REPORT"]


def test_a_silent_calendar_times_out(
    bookings: Bookings, scripted: ScriptedCalendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five seconds in total, shortened here."""
    assert calendar_server.ANSWERED_WITHIN_S < calendar_server.SEEN_WITHIN_S == 5.0
    monkeypatch.setattr(calendar_server, "ANSWERED_WITHIN_S", 0.2)
    scripted.answers = [None]
    outcome = check(bookings)
    assert NOT_CHECKED in outcome.told
    assert "did not answer within 0.2 seconds" in outcome.result["calendar"]


def test_a_response_that_takes_long_to_parse_times_out(
    bookings: Bookings, scripted: ScriptedCalendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsing counts toward the five seconds."""
    monkeypatch.setattr(calendar_server, "SEEN_WITHIN_S", 0.2)
    is_over = Event()
    monkeypatch.setattr(calendar_server, "busy_spans", lambda *about, **more: is_over.wait(30))
    threading.Timer(1, is_over.set).start()
    outcome = check(bookings)
    assert "took too long" in outcome.result["calendar"]


def test_a_malformed_event_hides_no_other(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    nonsense = [
        document(),
        document("DTSTART:yesterday"),
        document("DTSTART:99991231T235959Z", "DURATION:P9999999D"),
        document("DTSTART:20261127T180000Z", "DTSTART:20261127T180000Z"),
        document("DTSTART;VALUE=DATE:20261127", "DTEND:20261127T190000Z", "DTEND:x"),
        document("DTSTART:20261127T180000Z", "RECURRENCE-ID:never"),
        "BEGIN:VEVENT\nEND:VCALENDAR",
    ]
    scripted.answer(207, multistatus(*nonsense, document(*TAKEN)))
    outcome = check(bookings)
    assert NOT_CHECKED not in outcome.told
    assert outcome.result["free"] is False


def test_without_a_calendar_nothing_is_requested(bookings: Bookings) -> None:
    """The answer doesn't mention a calendar."""
    assert "calendar" not in check(bookings).result
