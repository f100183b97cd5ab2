"""Events of an erased customer's bookings in the connected calendar, on a real CalDAV server."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from conversations.models import Conversation
from conversations.turns.services import start_conversation
from privacy.models import ErasureState
from tests.privacy.conftest import erase, hasten, reload, run_erasures
from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.conftest import (
    bookings,
    business,
    caldav_server,
    calendar,
    forget,
    local,
    scripted,
    stranger,
    tenant,
    write,
)
from tests.tools.calendar.radicale import Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tests.tools.calendar.test_event_sync import to_come
from tools.models import Booking

__all__ = ["bookings", "business", "caldav_server", "calendar", "local", "scripted", "stranger", "tenant"]


def guest(bookings: Bookings) -> Conversation:
    with bookings.tenant.tx():
        known = {"name": "Ada Lovelace", "phone": "+393475550142"}
        return start_conversation(
            bookings.tenant.project, channel="chat", external_id="guest-7731", known=known, metadata={}
        )


def booked(bookings: Bookings, *, in_past: bool = False) -> Conversation:
    """A booking of a customer whose event is in the calendar."""
    conversation, booking = guest(bookings), to_come(bookings)
    with bookings.tenant.tx():
        row = Booking.objects.filter(pk=booking.pk)
        row.update(persona_id=conversation.persona_id)
    write()
    if in_past:
        with bookings.tenant.tx():
            began = timezone.now() - timedelta(days=2)
            row.update(starts_at=began, ends_at=began + timedelta(hours=1))
    return conversation


def test_the_event_of_an_upcoming_booking_is_removed(bookings: Bookings, calendar: Calendar) -> None:
    conversation = booked(bookings)
    assert "Ada Lovelace" in calendar.events()[0]["SUMMARY"]
    erasure = erase(bookings.tenant, conversation.persona_id)
    assert erasure.state == ErasureState.CALENDAR
    finish(bookings)
    assert calendar.events() == []
    assert reload(bookings.tenant, erasure).state == ErasureState.DONE


def test_the_event_of_a_past_booking_names_nobody(bookings: Bookings, calendar: Calendar) -> None:
    conversation = booked(bookings, in_past=True)
    erasure = erase(bookings.tenant, conversation.persona_id)
    finish(bookings)
    [event] = calendar.events()
    assert "Ada" not in str(event)
    assert "393475550142" not in str(event)
    assert reload(bookings.tenant, erasure).left == []


def test_an_event_that_cannot_be_rewritten_is_named(bookings: Bookings, calendar: Calendar) -> None:
    """The calendar was disconnected. A person removes the event there."""
    conversation = booked(bookings)
    [event_address] = addresses(bookings)
    forget(bookings.tenant)
    erasure = erase(bookings.tenant, conversation.persona_id)
    finish(bookings)
    found = reload(bookings.tenant, erasure)
    assert (found.state, found.left) == (ErasureState.DONE, [event_address])


def test_a_silent_calendar_does_not_keep_the_records(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """The customer is gone while the calendar is retried."""
    conversation = booked(bookings)
    scripted.answer(503)
    erasure = erase(bookings.tenant, conversation.persona_id)
    write()
    hasten(bookings.tenant)
    run_erasures()
    found = reload(bookings.tenant, erasure)
    assert (found.state, found.personas) == (ErasureState.CALENDAR, [])


def finish(bookings: Bookings) -> None:
    write()
    hasten(bookings.tenant)
    run_erasures()


def addresses(bookings: Bookings) -> list[str]:
    with bookings.tenant.tx():
        return list(Booking.objects.values_list("calendar_url", flat=True))
