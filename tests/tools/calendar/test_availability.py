"""The connected calendar narrows what is offered and what is booked, whichever tool is used."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.tools.bookings.conftest import NOW, Desk
from tests.tools.calendar.radicale import Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.engine.execution.outcome import Ending
from tools.models import Booking
from tools.services.bookings.search import LOOK_AHEAD_DAYS
from tools.services.calendar.availability import NOT_CHECKED, window_of

ASKED = {"date": "2026-11-27", "time": "19:00", "party_size": 4}
EVENING = ("DTSTART:20261127T180000Z", "DTEND:20261127T190000Z")


@pytest.mark.parametrize("tool", ["check_availability", "check_availability_tool"])
def test_a_taken_time_is_not_offered(desk: Desk, calendar: Calendar, tool: str) -> None:
    """Neither by the agent's own call nor by the Tool Caller's; times beside it are."""
    calendar.add(*EVENING)
    outcome = desk.run(tool, **ASKED)
    assert outcome.result["free"] is False
    assert "Free that day: 20:00" in outcome.told


def test_the_next_free_day_is_looked_for_in_the_calendar_too(desk: Desk, calendar: Calendar) -> None:
    calendar.add("DTSTART;VALUE=DATE:20261127", "DTEND;VALUE=DATE:20261129")
    outcome = desk.run("check_availability", **ASKED)
    assert "The next that are free: Sunday 29 November" in outcome.told


@pytest.mark.parametrize("tool", ["book_appointment", "create_booking_tool"])
def test_a_time_that_was_taken_meanwhile_is_not_booked(desk: Desk, calendar: Calendar, tool: str) -> None:
    """Offered, then taken in the calendar, then refused with what is free instead."""
    assert desk.run("check_availability", **ASKED).result["free"] is True
    calendar.add(*EVENING)
    outcome = desk.run(tool, **ASKED)
    assert outcome.ending is Ending.FAILED
    assert "no table for 4 is free. Free that day: 20:00" in outcome.told
    with desk.tenant.tx():
        assert not Booking.objects.exists()


def test_a_free_time_is_booked(desk: Desk, calendar: Calendar) -> None:
    """Right after an event ends."""
    calendar.add(*EVENING)
    outcome = desk.run("book_appointment", **{**ASKED, "time": "20:00"})
    assert outcome.told.startswith("Booked: a table for 4 on Friday 27 November at 20:00")


def test_what_takes_longer_is_passed_over_where_the_calendar_is_taken_after(desk: Desk, calendar: Calendar) -> None:
    """The smaller table would be taken into the event, the larger one is free before it."""
    desk.stock(("Long", "table", 2, 180), ("Short", "table", 4, 60))
    calendar.add("DTSTART:20261127T190000Z", "DTEND:20261127T200000Z")
    desk.run("book_appointment", **{**ASKED, "party_size": 2})
    with desk.tenant.tx():
        assert Booking.objects.get().resource.name == "Short"


def test_a_second_attempt_finds_the_booking_of_the_first(desk: Desk, calendar: Calendar) -> None:
    """Whatever stands in the calendar by then."""
    context = desk.tool_context()
    desk.run("book_appointment", context, **ASKED)
    calendar.add(*EVENING)
    assert desk.run("book_appointment", context, **ASKED).told.startswith("Booked: a table for 4")
    with desk.tenant.tx():
        assert Booking.objects.count() == 1


def test_a_booking_is_made_by_the_book_while_the_calendar_is_down(desk: Desk, scripted: ScriptedCalendar) -> None:
    """The book is the truth, and the agent is told that it alone was asked."""
    scripted.answer(503)
    outcome = desk.run("book_appointment", **ASKED)
    assert outcome.ending is Ending.DONE
    assert "goes by our booking book alone" in outcome.told


def test_the_calendar_is_not_asked_without_a_day(desk: Desk, scripted: ScriptedCalendar) -> None:
    for day in (None, "some day", 7):
        desk.run("check_availability", date=day)
    assert scripted.requests == []


def test_the_look_goes_as_far_as_times_are_offered(desk: Desk) -> None:
    """Where a day has nothing, those of the next two weeks are."""
    window = window_of(NOW.date(), desk.tool_context())
    assert (window.ends_at - window.starts_at).days > LOOK_AHEAD_DAYS


@pytest.mark.requirement("F17")
def test_a_calendar_whose_password_no_key_opens_takes_nothing(
    desk: Desk, scripted: ScriptedCalendar, settings: Any
) -> None:
    """The book goes alone, and staff reads why."""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    outcome = desk.run("check_availability_tool", date="2026-11-27", time="19:00", party_size=2)
    assert outcome.told.endswith(NOT_CHECKED)
    assert outcome.result["calendar"] == "The calendar’s password can’t be read. Connect it again."
    assert scripted.requests == []
