"""A calendar as a connection: what is refused when it is saved, and the trial of it."""

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
from tests.tools.bookings.conftest import Desk
from tests.tools.calendar.conftest import CALDAV, connect, forget, source_of, write
from tests.tools.calendar.radicale import PASSWORD, USER, Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tests.tools.calendar.test_writing import to_come
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
        ({"url": "http://cal.example.com/dav/"}, "url", "Write https://"),
        ({"url": "cal.example.com/dav"}, "url", "must begin with http"),
        ({"url": "https://anna:x@cal.example.com/dav/"}, "url", "user name or password"),
        ({"url": "https://cal.example.com/dav/?a=1"}, "url", "without what follows"),
        ({"url": "https://cal.example.com/anna.ics"}, "url", "can only be read"),
        ({"url": "webcal://cal.example.com/anna"}, "url", "can only be read"),
        ({"url": ""}, "url", "it can't work"),
        ({"user": ""}, "user", "it can't work"),
        ({"user": "an:na"}, "user", "colon"),
        ({"user": "an\nna"}, "user", "line break"),
    ],
)
def test_a_calendar_that_cannot_work_is_refused(typed: dict[str, str], field: str, sentence: str) -> None:
    """When it is saved, with a sentence at its field."""
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(CALDAV, {"url": "https://cal.example.com/dav/anna/work/", "user": USER, **typed})
    assert list(refused.value.errors) == [field]
    assert sentence in refused.value.errors[field]


def test_a_password_goes_to_its_own_calendar_only(desk: Desk, calendar: Calendar) -> None:
    with pytest.raises(SettingsRefused, match="for another address"):
        connect(desk.tenant, calendar.url.replace("anna", "bert"), password="")


class Staff:
    """Staff at the page of integrations."""

    def __init__(self, desk: Desk) -> None:
        self.slug = desk.tenant.project.slug
        self.client = Client()
        self.client.force_login(desk.tenant.owner)
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
def staff(desk: Desk) -> Staff:
    return Staff(desk)


def test_it_is_connected_on_the_page_and_gets_the_bookings_to_come(
    desk: Desk, staff: Staff, calendar: Calendar
) -> None:
    """Its password is never shown."""
    booking = to_come(desk)
    assert staff.connect(calendar.url) == 302
    write()
    assert [event["UID"] for event in calendar.events()] == [event_uid(booking)]
    page = staff.page()
    assert calendar.url in page
    assert PASSWORD not in page


def test_what_is_booked_while_it_is_connected_is_written_to_it(desk: Desk, staff: Staff, calendar: Calendar) -> None:
    """Neither misses the other: who books looks for a calendar, and who connects one for bookings."""
    forget(desk.tenant)
    with meanwhile("projects_source", lambda: staff.connect(calendar.url)) as connected:
        booking = to_come(desk)
    assert connected[0].result() == 302
    write()
    assert [event["UID"] for event in calendar.events()] == [event_uid(booking)]


@pytest.mark.requirement("F17")
def test_a_calendar_that_answers_is_told_as_one(desk: Desk, staff: Staff, calendar: Calendar) -> None:
    """It is asked again from then on."""
    booking = to_come(desk)
    write()
    calendar.ask("DELETE")
    calendar.ask("MKCALENDAR")
    with desk.tenant.tx():
        mark_needs_reauth(source_of(desk.tenant).pk)
        booking.refresh_from_db()
    tried = staff.tries()
    assert tried == {"ok": True, "sentence": "The calendar answers: nothing is taken in the next 14 days."}
    assert source_of(desk.tenant).needs_reauth is False


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/anna/", "is no calendar"),
        ("/anna/nothing/", "no calendar at this address (404)"),
    ],
)
def test_what_is_no_calendar_is_told_as_none(
    desk: Desk, staff: Staff, calendar: Calendar, path: str, sentence: str
) -> None:
    """By a real server."""
    connect(desk.tenant, f"http://127.0.0.1:{calendar.port}{path}")
    tried = staff.tries()
    assert tried["ok"] is False
    assert sentence in tried["sentence"]


@pytest.mark.requirement("F17")
def test_a_wrong_password_is_said_and_needs_attention(desk: Desk, staff: Staff, calendar: Calendar) -> None:
    staff.connect(calendar.url, password="wrong")
    assert "refuses the user name or the password" in staff.tries()["sentence"]
    assert "Needs attention" in staff.page()


def test_a_calendar_that_cannot_be_written_is_said(staff: Staff, scripted: ScriptedCalendar) -> None:
    scripted.answer(207, READ_ONLY)
    assert staff.tries() == {
        "ok": False,
        "sentence": "The calendar can be read, and this account may not write to it; bookings would not appear. "
        "Use one that may.",
    }


@pytest.mark.parametrize("privilege", ["all", "write", "write-content", "bind", ""])
def test_a_calendar_that_may_be_written_or_does_not_say_is_one(
    privilege: str, staff: Staff, scripted: ScriptedCalendar
) -> None:
    """RFC 3744 has several names for it, and not every server speaks it."""
    told = READ_ONLY.replace(b"<read/>", f"<{privilege}/>".encode())
    silent = re.sub(rb"<current-user-privilege-set>.*</current-user-privilege-set>", b"", READ_ONLY)
    scripted.answer(207, told if privilege else silent)
    assert staff.tries()["ok"] is True


def test_the_trial_writes_what_the_calendar_refused_before(
    desk: Desk, staff: Staff, scripted: ScriptedCalendar
) -> None:
    """Staff who fix the connection need no other button."""
    scripted.answer(507)
    to_come(desk)
    write()
    assert "1 upcoming booking isn’t up to date in this calendar" in staff.page()
    scripted.answer(207, READ_ONLY.replace(b"<read/>", b"<all/>"))
    assert staff.tries()["sentence"].endswith("1 booking is being written to it.")
    assert "up to date in this calendar" not in staff.page()
