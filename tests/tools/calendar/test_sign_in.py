"""A calendar that rejects the sign-in: staff is notified once, the agent gets a sentence, and the calendar is not used
until reconnected.
"""

from __future__ import annotations

import asyncio
import logging
from threading import Barrier
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.tools.bookings.conftest import Bookings, _outcome, rome
from tests.tools.calendar.conftest import connect, source_of, told_of, write
from tests.tools.calendar.radicale import PASSWORD, Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.engine.execution.outcome import Ending
from tools.engine.registry import builtin_tools
from tools.models import EffectState
from tools.services.calendar.availability import NOT_CHECKED

ASKED = {"date": "2026-11-27", "time": "19:00", "party_size": 4}


def page_of(bookings: Bookings) -> str:
    client = Client()
    client.force_login(bookings.tenant.owner)
    section = {"project_slug": bookings.tenant.project.slug, "section": "integrations"}
    return client.get(reverse("agent", kwargs=section)).content.decode()


@pytest.mark.requirement("F17")
@pytest.mark.parametrize("status", [401, 403])
def test_a_rejected_sign_in_is_explained_and_recorded(
    bookings: Bookings, scripted: ScriptedCalendar, status: int
) -> None:
    """No exception and no secret; only our bookings are checked."""
    scripted.answer(status, b"Forbidden")
    outcome = bookings.run("check_availability", **ASKED)
    assert outcome.ending is Ending.DONE
    assert outcome.told.endswith(NOT_CHECKED)
    assert outcome.result["needs_reauth"] is True
    assert PASSWORD not in repr(outcome)
    assert source_of(bookings.tenant).needs_reauth is True


@pytest.mark.requirement("F17")
def test_a_real_server_rejects_a_wrong_password(bookings: Bookings, calendar: Calendar) -> None:
    connect(bookings.tenant, calendar.url, password="wrong")
    assert NOT_CHECKED in bookings.run("book_appointment", **ASKED).told
    assert source_of(bookings.tenant).needs_reauth is True


@pytest.mark.requirement("F17")
def test_staff_is_notified_once_of_concurrent_rejections(
    bookings: Bookings, scripted: ScriptedCalendar, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.answer(401)
    scripted.together = Barrier(2)
    handler = builtin_tools()["check_availability"].handler
    assert handler is not None

    contexts = [bookings.tool_context() for _ in range(2)]

    async def both() -> list[Any]:
        return await asyncio.gather(*(_outcome(handler.execute(ASKED, context)) for context in contexts))

    with caplog.at_level(logging.WARNING, logger="tools.services.calendar"):
        asyncio.run(both())
    assert scripted.methods == ["REPORT", "REPORT"]
    assert sum("has to be connected again" in record.message for record in caplog.records) == 1


@pytest.mark.requirement("F17")
def test_the_calendar_is_not_used_until_it_is_reconnected(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    scripted.answer(401)
    for tool in ("check_availability", "check_availability_tool", "book_appointment"):
        assert NOT_CHECKED in bookings.run(tool, **ASKED).told
    write()
    assert scripted.methods == ["REPORT"]
    connect(bookings.tenant, scripted.url)
    bookings.run("check_availability", **ASKED)
    assert scripted.methods == ["REPORT", "REPORT"]


@pytest.mark.requirement("F17")
def test_staff_sees_the_banner(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    assert "Needs attention" not in page_of(bookings)
    scripted.answer(401)
    bookings.run("check_availability", **ASKED)
    page = page_of(bookings)
    assert "Needs attention" in page
    assert "Sign-in refused" in page
    assert "Reconnect under Integrations: 1" in page


@pytest.mark.requirement("F17")
def test_a_rejected_write_is_recorded(bookings: Bookings, scripted: ScriptedCalendar) -> None:
    """The booking is valid without its event, and no other is tried."""
    scripted.answer(403)
    first = bookings.book(rome(27, "19:00"))
    write()
    second = bookings.book(rome(28, "19:00"))
    write()
    assert len(scripted.requests) == 1
    assert source_of(bookings.tenant).needs_reauth is True
    refusals = [told_of(bookings, booking) for booking in (first, second)]
    assert [effect.state for effect in refusals] == [EffectState.FAILED] * 2
    assert all("again" in effect.error and PASSWORD not in effect.error for effect in refusals)
