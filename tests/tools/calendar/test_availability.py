"""The connected calendar limits offered and booked times, in every tool."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.tools.bookings.conftest import NOW, Bookings
from tests.tools.calendar.radicale import Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.engine.execution.outcome import Ending
from tools.models import Booking
from tools.services.bookings.search import LOOK_AHEAD_DAYS
from tools.services.calendar.availability import NOT_CHECKED, window_of

ASKED = {"date": "2026-11-27", "time": "19:00", "party_size": 4}
EVENING = ("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z")


@pytest.mark.parametrize("tool", ["check_availability", "check_availability_tool"])
def test_a_busy_time_is_not_offered(bookings: Bookings, calendar: Calendar, tool: str) -> None:
    """Neither in a turn nor by the Tool Caller; adjacent times are."""
    calendar.add(*EVENING)
    outcome = bookings.run(tool, **ASKED)
    assert outcome.result["free"] is False
    assert "Free that day: 20:00" in outcome.told


def test_the_next_free_day_considers_the_calendar(bookings: Bookings, calendar: Calendar) -> None:
    calendar.add("DTSTART;VALUE=DATE:20261127", "DTEND;VALUE=DATE:20261129")
    outcome = bookings.run("check_availability", **ASKED)
    assert "The next that are free: Sunday 29 November" in outcome.told


@pytest.mark.parametrize("tool", ["book_appointment", "create_booking_tool"])
def test_a_time_that_became_busy_is_not_booked(bookings: Bookings, calendar: Calendar, tool: str) -> None:
    """It was offered, then taken in the calendar, and is refused with alternatives."""
    assert bookings.run("check_availability", **ASKED).result["free"] is True
    calendar.add(*EVENING)
    outcome = bookings.run(tool, **ASKED)
    assert outcome.ending is Ending.FAILED
    assert "no table for 4 is free. Free that day: 20:00" in outcome.told
    with bookings.tenant.tx():
        assert not Booking.objects.exists()


def test_a_time_right_after_an_event_is_booked(bookings: Bookings, calendar: Calendar) -> None:
    calendar.add(*EVENING)
    outcome = bookings.run("book_appointment", **{**ASKED, "time": "20:00"})
    assert outcome.told.startswith("Booked: a table for 4 on Friday 27 November at 20:00")


def test_a_resource_whose_slot_would_overlap_an_event_is_skipped(bookings: Bookings, calendar: Calendar) -> None:
    """The smaller table's slot would overlap the event; the larger table's ends before it."""
    bookings.stock(("Long", "table", 2, 180), ("Short", "table", 4, 60))
    calendar.add("DTSTART:20261127T190000Z", "DTEND:20261127T200000Z")
    bookings.run("book_appointment", **{**ASKED, "party_size": 2})
    with bookings.tenant.tx():
        assert Booking.objects.get().resource.name == "Short"


def test_a_retry_finds_the_booking_of_the_first_attempt(bookings: Bookings, calendar: Calendar) -> None:
    """Even if the calendar has changed in between."""
    context = bookings.tool_context()
    bookings.run("book_appointment", context, **ASKED)
    calendar.add(*EVENING)
    assert bookings.run("book_appointment", context, **ASKED).told.startswith("Booked: a table for 4")
    with bookings.tenant.tx():
        assert Booking.objects.count() == 1


def test_a_booking_is_made_while_the_calendar_is_down(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """Our bookings are the truth, and the agent reads that the calendar was not checked."""
    scripted.answer(503)
    outcome = bookings.run("book_appointment", **ASKED)
    assert outcome.ending is Ending.DONE
    assert "goes by our booking book alone" in outcome.told


def test_without_a_day_the_calendar_is_not_checked(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    for day in (None, "some day", 7):
        bookings.run("check_availability", date=day)
    assert scripted.requests == []


def test_the_check_covers_all_days_that_may_be_offered(bookings: Bookings) -> None:
    """If a day is full, the next two weeks are searched."""
    window = window_of(NOW.date(), bookings.tool_context())
    assert (window.ends_at - window.starts_at).days > LOOK_AHEAD_DAYS


@pytest.mark.requirement("F17")
def test_a_calendar_with_an_undecryptable_password_is_ignored(
    bookings: Bookings, scripted: ScriptedCalendar, settings: Any
) -> None:
    """Only our bookings count, and staff reads why."""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    outcome = bookings.run("check_availability_tool", date="2026-11-27", time="19:00", party_size=2)
    assert outcome.told.endswith(NOT_CHECKED)
    assert outcome.result["calendar"] == "The calendar’s password can’t be read. Connect it again."
    assert scripted.requests == []
