"""The calendar follows the book: each booking is one event, by the ledger."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.tool_runs.effects.decisions import resolve
from jobs.attempt import FAULT
from jobs.models import Job, State
from jobs.services import run_again
from projects.connections.integration_types import KINDS
from projects.connections.integrations import disconnect_source
from tests.tools.bookings.conftest import NOW, Desk, rome
from tests.tools.calendar.conftest import connect, forget, open_day, told_of, write
from tests.tools.calendar.radicale import Calendar, Radicale
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.models import Booking, Effect, EffectState, Resource
from tools.services.bookings.services import Guest, cancel, move
from tools.services.calendar import lane as calendar_lane
from tools.services.calendar.connecting import calendar_connected
from tools.services.calendar.event import event_name, event_uid

EVENING = rome(27, "19:00")


def reschedule(desk: Desk, booking: Booking, clock: str) -> None:
    with desk.tenant.tx():
        move(booking, desk.project, starts_at=rome(27, clock), party_size=2, now=NOW)


def call_off(desk: Desk, booking: Booking) -> None:
    with desk.tenant.tx():
        cancel(booking, by="customer", now=NOW)


def to_come(desk: Desk, clock: str = "19:00") -> Booking:
    """A booking on a day to come, by the real clock."""
    day = open_day(desk.tenant)
    return desk.book(rome(day.day, clock, month=day.month, year=day.year), now=timezone.now())


def hasten(desk: Desk) -> None:
    """Time goes by until the next attempt is due."""
    with desk.tenant.tx():
        Job.objects.filter(lane="calendar", state="queued").update(run_after=timezone.now() - timedelta(seconds=1))


def test_a_booking_is_one_event(desk: Desk, calendar: Calendar) -> None:
    """Who comes, when, and by which code it is found in the book."""
    booking = desk.book(EVENING, 4)
    write()
    [event] = calendar.events()
    assert event["UID"] == event_uid(booking)
    assert (event["DTSTART"], event["DTEND"]) == ("20261127T180000Z", "20261127T193000Z")
    assert event["SUMMARY"] == "Table for 4: Ada Lovelace"
    assert f"Code: {booking.code}" in event["DESCRIPTION"]
    effect = told_of(desk, booking)
    assert (effect.state, effect.attempts, effect.http_status) == (EffectState.DONE, 1, 201)
    assert effect.request == {"method": "PUT", "event": f"{calendar.url}{event_name(booking)}"}


def test_what_a_paste_leaves_in_a_note_is_a_space_in_the_calendar(desk: Desk, calendar: Calendar) -> None:
    """An event may hold no control character, and none fits into a server's answer in XML."""
    desk.book(EVENING, notes="By the window\x0bAllergic to nuts\nCandles\x85please\u2028thanks")
    write()
    [event] = calendar.events()
    assert "By the window Allergic to nuts\\nCandles please thanks" in event["DESCRIPTION"]


def test_an_event_follows_its_booking(desk: Desk, calendar: Calendar) -> None:
    """Moved, and taken out when the booking is cancelled."""
    booking = desk.book(EVENING)
    write()
    reschedule(desk, booking, "20:00")
    write()
    [event] = calendar.events()
    assert event["DTSTART"] == "20261127T190000Z"
    call_off(desk, booking)
    write()
    assert calendar.events() == []
    assert told_of(desk, booking).state == EffectState.DONE


def test_of_several_changes_only_the_last_is_written(desk: Desk, scripted: ScriptedCalendar) -> None:
    """Whatever the order in which they are carried out."""
    scripted.answer(201)
    booking = desk.book(EVENING)
    first = told_of(desk, booking)
    reschedule(desk, booking, "20:00")
    write()
    assert scripted.methods == ["PUT"]
    assert b"DTSTART:20261127T190000Z" in scripted.requests[0].body
    with desk.tenant.tx():
        first.refresh_from_db()
    assert (first.state, first.error) == (
        EffectState.CANCELLED,
        "A later change of the booking is written in its place.",
    )


def test_an_attempt_that_is_overtaken_is_not_made(desk: Desk, scripted: ScriptedCalendar) -> None:
    """It was to be tried again, and the booking has moved since."""
    scripted.answers = [(500, b""), (201, b"")]
    booking = desk.book(EVENING)
    write()
    first = told_of(desk, booking)
    assert first.state == EffectState.SENDING
    reschedule(desk, booking, "20:00")
    hasten(desk)
    write()
    assert len(scripted.requests) == 2
    with desk.tenant.tx():
        first.refresh_from_db()
    assert first.state == EffectState.CANCELLED
    assert told_of(desk, booking).state == EffectState.DONE


def test_staff_is_not_asked_of_what_is_written_anew(desk: Desk, scripted: ScriptedCalendar) -> None:
    booking = unknown(desk, scripted)
    first = told_of(desk, booking)
    with desk.tenant.tx():
        cancel(booking, by="staff", now=timezone.now())
        first.refresh_from_db()
    assert first.state == EffectState.CANCELLED


def test_one_that_somebody_took_out_by_hand_is_gone_already(desk: Desk, calendar: Calendar) -> None:
    booking = desk.book(EVENING)
    write()
    assert calendar.ask("DELETE", event_name(booking))[0] == 200
    call_off(desk, booking)
    write()
    assert told_of(desk, booking).state == EffectState.DONE


def test_an_attempt_that_was_not_heard_of_is_written_over(desk: Desk, calendar: Calendar) -> None:
    """It is written for the first time, and is there already."""
    booking = desk.book(EVENING)
    calendar.add("DTSTART:20261127T050000Z", "DTEND:20261127T060000Z", uid=event_uid(booking))
    calendar.ask("MOVE", f"{event_uid(booking)}.ics", Destination=f"{calendar.url}{event_name(booking)}")
    write()
    [event] = calendar.events()
    assert event["DTSTART"] == "20261127T180000Z"
    assert told_of(desk, booking).state == EffectState.DONE


def test_a_first_writing_goes_over_nothing(desk: Desk, scripted: ScriptedCalendar) -> None:
    """If-None-Match, then without; a later one without from the start."""
    scripted.answers = [(412, b""), (204, b""), (204, b"")]
    booking = desk.book(EVENING)
    write()
    reschedule(desk, booking, "20:00")
    write()
    assert [request.headers.get("if-none-match") for request in scripted.requests] == ["*", None, None]


def test_a_guest_writes_no_line_of_an_event(desk: Desk, calendar: Calendar) -> None:
    """What a customer says of themselves stays one text."""
    name = "Ada\r\nEND:VEVENT\nATTENDEE:mailto:x@example.com;,\\"
    desk.book(EVENING, guest=Guest(name=name))
    write()
    [event] = calendar.events()
    assert "ATTENDEE" not in event
    assert event["SUMMARY"].startswith("Table for 2: Ada\\nEND:VEVENT\\nATTENDEE:mailto")


def test_a_calendar_that_is_away_is_asked_again(desk: Desk, scripted: ScriptedCalendar) -> None:
    """By the ledger's own pauses."""
    scripted.answers = [(503, b""), (201, b"")]
    booking = desk.book(EVENING)
    write()
    effect = told_of(desk, booking)
    assert (effect.state, effect.error) == (EffectState.PLANNED, "The calendar’s server answered 503.")
    hasten(desk)
    write()
    assert told_of(desk, booking).state == EffectState.DONE


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, "no calendar at this address"), (507, "answered 507"), (302, "another address"), (400, "answered 400")],
)
def test_what_a_calendar_refuses_is_shown_beside_the_booking(
    desk: Desk, scripted: ScriptedCalendar, status: int, error: str
) -> None:
    """It is not asked again, and the booking stands."""
    scripted.answer(status)
    booking = desk.book(EVENING)
    write()
    effect = told_of(desk, booking)
    assert effect.state == EffectState.FAILED
    assert error in effect.error
    assert "Not in the calendar" in page_of(desk, booking)
    assert len(scripted.requests) == 1


def test_a_job_that_failed_for_good_can_be_run_again(
    desk: Desk, scripted: ScriptedCalendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever made it fail, staff sees it, and has another go."""
    booking = desk.book(EVENING)
    with desk.tenant.tx():
        Job.objects.filter(lane="calendar").update(attempts=4)
    with monkeypatch.context() as broken:
        broken.setattr(calendar_lane, "event_of", lambda *about, **more: 1 / 0)
        write()
    effect = told_of(desk, booking)
    assert (effect.state, effect.error) == (EffectState.UNKNOWN, FAULT)
    scripted.answer(201)
    with desk.tenant.tx():
        run_again(desk.project, Job.objects.get(lane="calendar", state=State.FAILED).pk)
    write()
    assert told_of(desk, booking).state == EffectState.DONE
    assert scripted.methods == ["PUT"]


def test_an_event_stands_among_the_effects(desk: Desk, calendar: Calendar) -> None:
    """Of no tool, so that none is linked to; and nobody was told of it."""
    effect = told_of(desk, desk.book(EVENING))
    write()
    client = Client()
    client.force_login(desk.tenant.owner)
    page = client.get(reverse("effect", args=[desk.tenant.project.slug, effect.pk])).content.decode()
    assert "Booking change" in page
    assert "/tools/calendar_event" not in page
    assert "The agent was told" not in page


def page_of(desk: Desk, booking: Booking) -> str:
    client = Client()
    client.force_login(desk.tenant.owner)
    return client.get(reverse("booking", args=[desk.tenant.project.slug, booking.pk])).content.decode()


def unknown(desk: Desk, scripted: ScriptedCalendar) -> Booking:
    """A booking of which nobody knows whether its event stands."""
    scripted.answer(500)
    booking = to_come(desk)
    for _ in range(5):
        write()
        hasten(desk)
    assert told_of(desk, booking).state == EffectState.UNKNOWN
    return booking


@pytest.mark.parametrize("happened", [True, False])
def test_staff_says_whether_it_stands_there(desk: Desk, scripted: ScriptedCalendar, happened: bool) -> None:
    """After the last attempt; if it doesn't, it is written again."""
    booking = unknown(desk, scripted)
    scripted.answer(201)
    sent = len(scripted.requests)
    with desk.tenant.tx():
        resolve(desk.project, told_of(desk, booking).pk, happened=happened, by=None)
    write()
    assert told_of(desk, booking).state == EffectState.DONE
    assert len(scripted.requests) - sent == (0 if happened else 1)


def test_what_it_missed_while_it_was_away_is_written_when_it_answers_again(
    desk: Desk, scripted: ScriptedCalendar
) -> None:
    """The next booking that it takes brings the others along."""
    missed = unknown(desk, scripted)
    scripted.answer(201)
    to_come(desk, "21:00")
    write()
    assert told_of(desk, missed).state == EffectState.DONE


def test_without_a_calendar_nothing_is_planned(desk: Desk) -> None:
    desk.book(EVENING)
    with desk.tenant.tx():
        assert not Effect.objects.exists()
        assert not Job.objects.filter(lane="calendar").exists()


def test_a_calendar_that_is_connected_later_gets_the_bookings_to_come(
    desk: Desk, caldav_server: Radicale, local: None
) -> None:
    """Once; and another one that takes its place gets them too."""
    booking = to_come(desk)
    for made in (caldav_server.calendar(), caldav_server.calendar()):
        for _ in range(2):
            connect(desk.tenant, made.url)
            with desk.tenant.tx():
                calendar_connected(desk.project)
            write()
        assert [event["UID"] for event in made.events()] == [event_uid(booking)]
    assert told_of(desk, booking).attempts == 1
    forget(desk.tenant)


@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "moved"])
@pytest.mark.parametrize("is_planned", [True, False], ids=["before", "after"])
def test_what_changed_while_no_calendar_was_connected_is_written_when_it_is_again(
    is_planned: bool, is_cancelled: bool, desk: Desk, caldav_server: Radicale, local: None
) -> None:
    """The event doesn't stay as the booking was, whether the calendar was ended before the change or before its writing."""
    made = caldav_server.calendar()
    connect(desk.tenant, made.url)
    booking = to_come(desk)
    write()
    if not is_planned:
        end_calendar(desk)
    with desk.tenant.tx():
        if is_cancelled:
            cancel(booking, by="customer", now=timezone.now())
        else:
            day = booking.starts_at + timedelta(hours=1)
            move(booking, desk.project, starts_at=day, party_size=2, now=timezone.now())
    if is_planned:
        end_calendar(desk)
    write()
    assert told_of(desk, booking).error == "No calendar is connected any more."
    connect(desk.tenant, made.url)
    with desk.tenant.tx():
        calendar_connected(desk.project)
    write()
    moved = f"{booking.starts_at + timedelta(hours=1):%Y%m%dT%H%M%SZ}"
    assert [event["DTSTART"] for event in made.events()] == ([] if is_cancelled else [moved])
    forget(desk.tenant)


def end_calendar(desk: Desk) -> None:
    with desk.tenant.tx():
        assert disconnect_source(desk.project, KINDS["caldav"], by=desk.tenant.owner)


def test_one_who_has_nothing_but_a_calendar_is_met_for_half_an_hour(desk: Desk) -> None:
    """A connected calendar is enough to take bookings."""
    desk.stock()
    with desk.tenant.tx():
        calendar_connected(desk.project)
        [made] = Resource.objects.all()
    assert (made.name, made.kind, made.slot_minutes) == ("Calendar", "person", 30)
