"""Calendar sync: each booking is one event, written through the ledger."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.tool_runs.effects.resolution import resolve
from jobs.attempt import FAULT
from jobs.models import Job, State
from jobs.services import run_again
from projects.connections.integration_types import KINDS
from projects.connections.integrations import disconnect_source
from tests.tools.bookings.conftest import NOW, Bookings, rome
from tests.tools.calendar.conftest import connect, forget, open_day, told_of, write
from tests.tools.calendar.radicale import Calendar, Radicale
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.models import Booking, Effect, EffectState, Resource
from tools.services.bookings.services import Guest, cancel, move
from tools.services.calendar import lane as calendar_lane
from tools.services.calendar.connecting import calendar_connected
from tools.services.calendar.event import event_name, event_uid

EVENING = rome(27, "19:00")


def reschedule(bookings: Bookings, booking: Booking, clock: str) -> None:
    with bookings.tenant.tx():
        move(booking, bookings.project, starts_at=rome(27, clock), party_size=2, now=NOW)


def call_off(bookings: Bookings, booking: Booking) -> None:
    with bookings.tenant.tx():
        cancel(booking, by="customer", now=NOW)


def to_come(bookings: Bookings, clock: str = "19:00") -> Booking:
    """A booking on a future day, by the real clock."""
    day = open_day(bookings.tenant)
    return bookings.book(rome(day.day, clock, month=day.month, year=day.year), now=timezone.now())


def hasten(bookings: Bookings) -> None:
    """Make the next attempt due."""
    with bookings.tenant.tx():
        Job.objects.filter(lane="calendar", state="queued").update(run_after=timezone.now() - timedelta(seconds=1))


def test_a_booking_becomes_one_event(bookings: Bookings, calendar: Calendar) -> None:
    """With the guest, the time and the booking code."""
    booking = bookings.book(EVENING, 4)
    write()
    [event] = calendar.events()
    assert event["UID"] == event_uid(booking)
    assert (event["DTSTART"], event["DTEND"]) == ("20261127T180000Z", "20261127T193000Z")
    assert event["SUMMARY"] == "Table for 4: Ada Lovelace"
    assert f"Code: {booking.code}" in event["DESCRIPTION"]
    effect = told_of(bookings, booking)
    assert (effect.state, effect.attempts, effect.http_status) == (EffectState.DONE, 1, 201)
    assert effect.request == {"method": "PUT", "event": f"{calendar.url}{event_name(booking)}"}


def test_control_characters_in_a_note_become_spaces(bookings: Bookings, calendar: Calendar) -> None:
    """Neither events nor XML responses can hold them."""
    bookings.book(EVENING, notes="By the window\x0bAllergic to nuts\nCandles\x85please\u2028thanks")
    write()
    [event] = calendar.events()
    assert "By the window Allergic to nuts\\nCandles please thanks" in event["DESCRIPTION"]


def test_an_event_follows_its_booking(bookings: Bookings, calendar: Calendar) -> None:
    """It moves, and is removed when the booking is canceled."""
    booking = bookings.book(EVENING)
    write()
    reschedule(bookings, booking, "20:00")
    write()
    [event] = calendar.events()
    assert event["DTSTART"] == "20261127T190000Z"
    call_off(bookings, booking)
    write()
    assert calendar.events() == []
    assert told_of(bookings, booking).state == EffectState.DONE


def test_only_the_last_of_several_changes_is_written(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """In any order of execution."""
    scripted.answer(201)
    booking = bookings.book(EVENING)
    first = told_of(bookings, booking)
    reschedule(bookings, booking, "20:00")
    write()
    assert scripted.methods == ["PUT"]
    assert b"DTSTART:20261127T190000Z" in scripted.requests[0].body
    with bookings.tenant.tx():
        first.refresh_from_db()
    assert (first.state, first.error) == (
        EffectState.CANCELLED,
        "Replaced by a later change of the booking.",
    )


def test_a_superseded_retry_is_not_sent(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """The booking moved before the retry."""
    scripted.answers = [(500, b""), (201, b"")]
    booking = bookings.book(EVENING)
    write()
    first = told_of(bookings, booking)
    assert first.state == EffectState.SENDING
    reschedule(bookings, booking, "20:00")
    hasten(bookings)
    write()
    assert len(scripted.requests) == 2
    with bookings.tenant.tx():
        first.refresh_from_db()
    assert first.state == EffectState.CANCELLED
    assert told_of(bookings, booking).state == EffectState.DONE


def test_staff_is_not_asked_about_superseded_effects(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    booking = unknown(bookings, scripted)
    first = told_of(bookings, booking)
    with bookings.tenant.tx():
        cancel(booking, by="staff", now=timezone.now())
        first.refresh_from_db()
    assert first.state == EffectState.CANCELLED


def test_an_event_deleted_by_hand_counts_as_removed(bookings: Bookings, calendar: Calendar) -> None:
    booking = bookings.book(EVENING)
    write()
    assert calendar.ask("DELETE", event_name(booking))[0] == 200
    call_off(bookings, booking)
    write()
    assert told_of(bookings, booking).state == EffectState.DONE


def test_an_event_from_a_lost_response_is_overwritten(bookings: Bookings, calendar: Calendar) -> None:
    """The first write finds its own event already there."""
    booking = bookings.book(EVENING)
    calendar.add("DTSTART:20261127T050000Z", "DTEND:20261127T060000Z", uid=event_uid(booking))
    calendar.ask("MOVE", f"{event_uid(booking)}.ics", Destination=f"{calendar.url}{event_name(booking)}")
    write()
    [event] = calendar.events()
    assert event["DTSTART"] == "20261127T180000Z"
    assert told_of(bookings, booking).state == EffectState.DONE


def test_the_first_write_overwrites_nothing(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """First with If-None-Match, then without; later writes go without from the start."""
    scripted.answers = [(412, b""), (204, b""), (204, b"")]
    booking = bookings.book(EVENING)
    write()
    reschedule(bookings, booking, "20:00")
    write()
    assert [request.headers.get("if-none-match") for request in scripted.requests] == ["*", None, None]


def test_guest_input_cannot_inject_event_lines(bookings: Bookings, calendar: Calendar) -> None:
    """Input stays a single text value."""
    name = "Ada\r\nEND:VEVENT\nATTENDEE:mailto:x@example.com;,\\"
    bookings.book(EVENING, guest=Guest(name=name))
    write()
    [event] = calendar.events()
    assert "ATTENDEE" not in event
    assert event["SUMMARY"].startswith("Table for 2: Ada\\nEND:VEVENT\\nATTENDEE:mailto")


def test_an_unavailable_calendar_is_retried(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """With the ledger's own delays."""
    scripted.answers = [(503, b""), (201, b"")]
    booking = bookings.book(EVENING)
    write()
    effect = told_of(bookings, booking)
    assert (effect.state, effect.error) == (EffectState.PLANNED, "The calendar’s server responded with 503.")
    hasten(bookings)
    write()
    assert told_of(bookings, booking).state == EffectState.DONE


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, "no calendar at this address"),
        (507, "responded with 507"),
        (302, "another address"),
        (400, "responded with 400"),
    ],
)
def test_a_refused_event_is_shown_beside_the_booking(
    bookings: Bookings, scripted: ScriptedCalendar, status: int, error: str
) -> None:
    """It is not retried, and the booking is valid."""
    scripted.answer(status)
    booking = bookings.book(EVENING)
    write()
    effect = told_of(bookings, booking)
    assert effect.state == EffectState.FAILED
    assert error in effect.error
    assert "Not in the calendar" in page_of(bookings, booking)
    assert len(scripted.requests) == 1


def test_a_failed_job_can_be_rerun(
    bookings: Bookings, scripted: ScriptedCalendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Staff sees any failure and can try again."""
    booking = bookings.book(EVENING)
    with bookings.tenant.tx():
        Job.objects.filter(lane="calendar").update(attempts=4)
    with monkeypatch.context() as broken:
        broken.setattr(calendar_lane, "build_event", lambda *about, **more: 1 / 0)
        write()
    effect = told_of(bookings, booking)
    assert (effect.state, effect.error) == (EffectState.UNKNOWN, FAULT)
    scripted.answer(201)
    with bookings.tenant.tx():
        run_again(bookings.project, Job.objects.get(lane="calendar", state=State.FAILED).pk)
    write()
    assert told_of(bookings, booking).state == EffectState.DONE
    assert scripted.methods == ["PUT"]


def test_a_calendar_event_is_listed_among_the_effects(bookings: Bookings, calendar: Calendar) -> None:
    """It has no tool to link to, and the agent was not told."""
    effect = told_of(bookings, bookings.book(EVENING))
    write()
    client = Client()
    client.force_login(bookings.tenant.owner)
    page = client.get(reverse("effect", args=[bookings.tenant.project.slug, effect.pk])).content.decode()
    assert "Booking change" in page
    assert "/tools/calendar_event" not in page
    assert "The agent was told" not in page


def page_of(bookings: Bookings, booking: Booking) -> str:
    client = Client()
    client.force_login(bookings.tenant.owner)
    return client.get(reverse("booking", args=[bookings.tenant.project.slug, booking.pk])).content.decode()


def unknown(bookings: Bookings, scripted: ScriptedCalendar) -> Booking:
    """A booking whose event may or may not exist."""
    scripted.answer(500)
    booking = to_come(bookings)
    for _ in range(5):
        write()
        hasten(bookings)
    assert told_of(bookings, booking).state == EffectState.UNKNOWN
    return booking


@pytest.mark.parametrize("happened", [True, False])
def test_staff_resolves_an_unknown_event(bookings: Bookings, scripted: ScriptedCalendar, happened: bool) -> None:
    """After the last attempt. If the event is missing, it is written again."""
    booking = unknown(bookings, scripted)
    scripted.answer(201)
    sent = len(scripted.requests)
    with bookings.tenant.tx():
        resolve(bookings.project, told_of(bookings, booking).pk, happened=happened, by=None)
    write()
    assert told_of(bookings, booking).state == EffectState.DONE
    assert len(scripted.requests) - sent == (0 if happened else 1)


def test_pending_events_sync_when_the_calendar_recovers(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """The next successful write triggers the others."""
    missed = unknown(bookings, scripted)
    scripted.answer(201)
    to_come(bookings, "21:00")
    write()
    assert told_of(bookings, missed).state == EffectState.DONE


def test_without_a_calendar_nothing_is_planned(bookings: Bookings) -> None:
    bookings.book(EVENING)
    with bookings.tenant.tx():
        assert not Effect.objects.exists()
        assert not Job.objects.filter(lane="calendar").exists()


def test_a_calendar_connected_later_gets_the_upcoming_bookings(
    bookings: Bookings, caldav_server: Radicale, local: None
) -> None:
    """Once; a replacement calendar gets them too."""
    booking = to_come(bookings)
    for made in (caldav_server.calendar(), caldav_server.calendar()):
        for _ in range(2):
            connect(bookings.tenant, made.url)
            with bookings.tenant.tx():
                calendar_connected(bookings.project)
            write()
        assert [event["UID"] for event in made.events()] == [event_uid(booking)]
    assert told_of(bookings, booking).attempts == 1
    forget(bookings.tenant)


@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "moved"])
@pytest.mark.parametrize("is_planned", [True, False], ids=["before", "after"])
def test_changes_made_while_disconnected_sync_after_reconnecting(
    is_planned: bool, is_cancelled: bool, bookings: Bookings, caldav_server: Radicale, local: None
) -> None:
    """The event does not stay outdated, whether the calendar was disconnected before the change or before its write."""
    made = caldav_server.calendar()
    connect(bookings.tenant, made.url)
    booking = to_come(bookings)
    write()
    if not is_planned:
        end_calendar(bookings)
    with bookings.tenant.tx():
        if is_cancelled:
            cancel(booking, by="customer", now=timezone.now())
        else:
            day = booking.starts_at + timedelta(hours=1)
            move(booking, bookings.project, starts_at=day, party_size=2, now=timezone.now())
    if is_planned:
        end_calendar(bookings)
    write()
    assert told_of(bookings, booking).error == "The calendar is no longer connected."
    connect(bookings.tenant, made.url)
    with bookings.tenant.tx():
        calendar_connected(bookings.project)
    write()
    moved = f"{booking.starts_at + timedelta(hours=1):%Y%m%dT%H%M%SZ}"
    assert [event["DTSTART"] for event in made.events()] == ([] if is_cancelled else [moved])
    forget(bookings.tenant)


def end_calendar(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        assert disconnect_source(bookings.project, KINDS["caldav"], by=bookings.tenant.owner)


def test_connecting_a_calendar_creates_a_half_hour_resource(bookings: Bookings) -> None:
    """A connected calendar is enough to take bookings."""
    bookings.stock()
    with bookings.tenant.tx():
        calendar_connected(bookings.project)
        [made] = Resource.objects.all()
    assert (made.name, made.kind, made.slot_minutes) == ("Calendar", "person", 30)
