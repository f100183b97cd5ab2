"""Calendar connections: validation on save, and the connection check."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.connections.integrations import checked_settings, mark_needs_reauth
from projects.models.agent_errors import SettingsRefused
from tests.concurrent import meanwhile
from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.conftest import CALDAV, connect, forget, source_of, write
from tests.tools.calendar.radicale import PASSWORD, USER, Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tests.tools.calendar.test_event_sync import to_come
from tools.services.calendar.event import event_uid

READ_ONLY = b"""<multistatus xmlns="DAV:"><response><href>/c/</href><propstat><prop>
<resourcetype><collection/><C:calendar xmlns:C="urn:ietf:params:xml:ns:caldav"/></resourcetype>
<current-user-privilege-set><privilege><read/></privilege></current-user-privilege-set>
</prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"""


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"url": "https://10.0.0.7/dav/"}, "url", "inside a private network"),
        ({"url": "https://localhost/dav/"}, "url", "this machine itself"),
        ({"url": "http://cal.example.com/dav/"}, "url", "Use https://"),
        ({"url": "cal.example.com/dav"}, "url", "must begin with http"),
        ({"url": "https://anna:x@cal.example.com/dav/"}, "url", "user name or password"),
        ({"url": "https://cal.example.com/dav/?a=1"}, "url", "after ? or #"),
        ({"url": "https://cal.example.com/anna.ics"}, "url", "read-only"),
        ({"url": "webcal://cal.example.com/anna"}, "url", "read-only"),
        ({"url": ""}, "url", "is required"),
        ({"user": ""}, "user", "is required"),
        ({"user": "an:na"}, "user", "colon"),
        ({"user": "an\nna"}, "user", "line break"),
    ],
)
def test_an_invalid_connection_is_refused(typed: dict[str, str], field: str, sentence: str) -> None:
    """On save, with an error at the field."""
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(CALDAV, {"url": "https://cal.example.com/dav/anna/work/", "user": USER, **typed})
    assert list(refused.value.errors) == [field]
    assert sentence in refused.value.errors[field]


def test_a_password_is_sent_only_to_its_own_calendar(bookings: Bookings, calendar: Calendar) -> None:
    with pytest.raises(SettingsRefused, match="for another address"):
        connect(bookings.tenant, calendar.url.replace("anna", "bert"), password="")


class Staff:
    """A staff member on the integrations page."""

    def __init__(self, bookings: Bookings) -> None:
        self.slug = bookings.tenant.project.slug
        self.client = Client()
        self.client.force_login(bookings.tenant.owner)
        self.address = reverse("agent", kwargs={"project_slug": self.slug, "section": "integrations"})

    def page(self) -> str:
        return html.unescape(self.markup())

    def markup(self) -> str:
        return self.client.get(self.address).content.decode()

    def connect(self, url: str, *, password: str = PASSWORD) -> int:
        found = re.search(r'value="caldav"><input type="hidden" name="seen" value="([^"]*)"', self.markup())
        assert found is not None
        seen = html.unescape(found[1])
        typed = {"kind": "caldav", "seen": seen, "settings.url": url, "settings.user": USER, "secret": password}
        return self.client.post(self.address, typed).status_code

    def tries(self) -> dict[str, Any]:
        url = reverse("integration_test", args=[self.slug, "caldav"])
        answer: dict[str, Any] = self.client.post(url, {}, headers={"Accept": "application/json"}).json()
        return answer


@pytest.fixture
def staff(bookings: Bookings) -> Staff:
    return Staff(bookings)


def test_connecting_a_calendar_writes_the_upcoming_bookings(
    bookings: Bookings, staff: Staff, calendar: Calendar
) -> None:
    """The password is never shown."""
    booking = to_come(bookings)
    assert staff.connect(calendar.url) == 302
    write()
    assert [event["UID"] for event in calendar.events()] == [event_uid(booking)]
    page = staff.page()
    assert calendar.url in page
    assert PASSWORD not in page


def test_a_booking_made_while_connecting_is_written(bookings: Bookings, staff: Staff, calendar: Calendar) -> None:
    """Neither misses the other: a booking checks for a calendar, and a new connection checks for bookings."""
    forget(bookings.tenant)
    with meanwhile("projects_source", lambda: staff.connect(calendar.url)) as connected:
        booking = to_come(bookings)
    assert connected[0].result() == 302
    write()
    assert [event["UID"] for event in calendar.events()] == [event_uid(booking)]


@pytest.mark.requirement("F17")
def test_checking_a_working_calendar_succeeds(bookings: Bookings, staff: Staff, calendar: Calendar) -> None:
    """Afterwards, it is used again."""
    booking = to_come(bookings)
    write()
    calendar.ask("DELETE")
    calendar.ask("MKCALENDAR")
    with bookings.tenant.tx():
        mark_needs_reauth(source_of(bookings.tenant).pk)
        booking.refresh_from_db()
    tried = staff.tries()
    assert tried == {"ok": True, "sentence": "The calendar responded. Nothing is taken in the next 14 days."}
    assert source_of(bookings.tenant).needs_reauth is False


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/anna/", "is no calendar"),
        ("/anna/nothing/", "no calendar at this address (404)"),
    ],
)
def test_checking_an_address_without_a_calendar_fails(
    bookings: Bookings, staff: Staff, calendar: Calendar, path: str, sentence: str
) -> None:
    """Against a real server."""
    connect(bookings.tenant, f"http://127.0.0.1:{calendar.port}{path}")
    tried = staff.tries()
    assert tried["ok"] is False
    assert sentence in tried["sentence"]


@pytest.mark.requirement("F17")
def test_a_wrong_password_is_reported_and_needs_attention(bookings: Bookings, staff: Staff, calendar: Calendar) -> None:
    staff.connect(calendar.url, password="wrong")
    assert "rejected the user name or password" in staff.tries()["sentence"]
    assert "Needs attention" in staff.page()


def test_a_read_only_calendar_is_reported(staff: Staff, scripted: ScriptedCalendar) -> None:
    scripted.answer(207, READ_ONLY)
    tried = staff.tries()
    assert not tried["ok"]
    assert "can read the calendar but not write to it" in tried["sentence"]


@pytest.mark.parametrize("privilege", ["all", "write", "write-content", "bind", ""])
def test_a_writable_calendar_or_one_without_privileges_passes(
    privilege: str, staff: Staff, scripted: ScriptedCalendar
) -> None:
    """RFC 3744 has several names for the privilege, and not every server implements it."""
    told = READ_ONLY.replace(b"<read/>", f"<{privilege}/>".encode())
    silent = re.sub(rb"<current-user-privilege-set>.*</current-user-privilege-set>", b"", READ_ONLY)
    scripted.answer(207, told if privilege else silent)
    assert staff.tries()["ok"] is True


def test_the_check_writes_bookings_that_were_refused_before(
    bookings: Bookings, staff: Staff, scripted: ScriptedCalendar
) -> None:
    """Staff needs no other button after fixing the connection."""
    scripted.answer(507)
    to_come(bookings)
    write()
    assert "1 upcoming booking isn’t up to date in this calendar" in staff.page()
    scripted.answer(207, READ_ONLY.replace(b"<read/>", b"<all/>"))
    assert staff.tries()["sentence"].endswith("1 booking is being written to it.")
    assert "up to date in this calendar" not in staff.page()
