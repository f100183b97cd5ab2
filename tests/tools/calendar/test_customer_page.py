"""The calendar on the customer's booking page: offered times and moves."""

from __future__ import annotations

from datetime import date, timedelta

from django.test import Client
from django.utils import timezone

from tests.tools.bookings.conftest import Bookings, rome
from tests.tools.calendar.radicale import Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tests.tools.calendar.test_event_sync import to_come
from tools.models import Booking
from tools.services.signed_links import booking_token


def day_of(booking: Booking) -> date:
    return booking.starts_at.date()


def take(calendar: Calendar, day: date) -> None:
    """Block 12:00 to 15:00 in Rome."""
    calendar.add(f"DTSTART;TZID=Europe/Rome:{day:%Y%m%d}T120000", "DURATION:PT3H")


def page_of(booking: Booking) -> str:
    return Client().get(f"/b/{booking_token(booking)}").content.decode()


def test_a_busy_time_is_not_shown(bookings: Bookings, calendar: Calendar) -> None:
    booking = to_come(bookings)
    assert ">13:00<" in page_of(booking)
    take(calendar, day_of(booking))
    page = page_of(booking)
    assert ">13:00<" not in page
    assert ">20:00<" in page


def test_a_booking_is_not_moved_to_a_busy_time(bookings: Bookings, calendar: Calendar) -> None:
    """The time was taken after the page was shown."""
    booking = to_come(bookings)
    day = day_of(booking)
    take(calendar, day)
    lunch = rome(day.day, "13:00", month=day.month, year=day.year)
    answer = Client().post(f"/b/{booking_token(booking)}", {"starts_at": lunch.isoformat(), "people": "2"}, follow=True)
    assert "no table for 2 is free" in answer.content.decode()
    with bookings.tenant.tx():
        assert Booking.objects.get().starts_at == booking.starts_at


def test_the_page_works_while_the_calendar_is_down(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """For past bookings, the calendar is not checked."""
    scripted.answer(503)
    booking = to_come(bookings)
    assert ">13:00<" in page_of(booking)
    with bookings.tenant.tx():
        begun = timezone.now() - timedelta(hours=1)
        Booking.objects.update(starts_at=begun, ends_at=begun + timedelta(hours=2))
    scripted.requests.clear()
    page_of(booking)
    assert scripted.requests == []
