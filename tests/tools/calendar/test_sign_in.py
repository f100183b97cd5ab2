"""A calendar that refuses the sign-in: staff is told once, the agent kindly, and it is left alone until it is connected again."""

from __future__ import annotations

import asyncio
import logging
from threading import Barrier
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.tools.bookings.conftest import Desk, _outcome, rome
from tests.tools.calendar.conftest import connect, source_of, told_of, write
from tests.tools.calendar.radicale import PASSWORD, Calendar
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.engine.execution.outcome import Ending
from tools.engine.registry import builtin_tools
from tools.models import EffectState
from tools.services.calendar.availability import BY_THE_BOOK

ASKED = {"date": "2026-11-27", "time": "19:00", "party_size": 4}


def page_of(desk: Desk) -> str:
    client = Client()
    client.force_login(desk.tenant.owner)
    section = {"project_slug": desk.tenant.project.slug, "section": "integrations"}
    return client.get(reverse("agent", kwargs=section)).content.decode()


@pytest.mark.requirement("F17")
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_sign_in_is_told_kindly_and_noted(desk: Desk, scripted: ScriptedCalendar, status: int) -> None:
    """No exception, no secret; the book is asked alone."""
    scripted.answer(status, b"Forbidden")
    outcome = desk.run("check_availability", **ASKED)
    assert outcome.ending is Ending.DONE
    assert outcome.told.endswith(BY_THE_BOOK)
    assert outcome.result["needs_reauth"] is True
    assert PASSWORD not in repr(outcome)
    assert source_of(desk.tenant).needs_reauth is True


@pytest.mark.requirement("F17")
def test_a_wrong_password_is_refused_by_a_real_server(desk: Desk, calendar: Calendar) -> None:
    connect(desk.tenant, calendar.url, password="wrong")
    assert BY_THE_BOOK in desk.run("book_appointment", **ASKED).told
    assert source_of(desk.tenant).needs_reauth is True


@pytest.mark.requirement("F17")
def test_staff_is_told_once_of_two_that_are_refused_at_once(
    desk: Desk, scripted: ScriptedCalendar, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.answer(401)
    scripted.together = Barrier(2)
    handler = builtin_tools()["check_availability"].handler
    assert handler is not None

    contexts = [desk.tool_context() for _ in range(2)]

    async def both() -> list[Any]:
        return await asyncio.gather(*(_outcome(handler.execute(ASKED, context)) for context in contexts))

    with caplog.at_level(logging.WARNING, logger="tools.services.calendar"):
        asyncio.run(both())
    assert scripted.methods == ["REPORT", "REPORT"]
    assert sum("has to be connected again" in record.message for record in caplog.records) == 1


@pytest.mark.requirement("F17")
def test_it_is_not_asked_again_until_it_is_connected_again(desk: Desk, scripted: ScriptedCalendar) -> None:
    scripted.answer(401)
    for tool in ("check_availability", "check_availability_tool", "book_appointment"):
        assert BY_THE_BOOK in desk.run(tool, **ASKED).told
    write()
    assert scripted.methods == ["REPORT"]
    connect(desk.tenant, scripted.url)
    desk.run("check_availability", **ASKED)
    assert scripted.methods == ["REPORT", "REPORT"]


@pytest.mark.requirement("F17")
def test_staff_sees_the_banner(desk: Desk, scripted: ScriptedCalendar) -> None:
    assert "Needs attention" not in page_of(desk)
    scripted.answer(401)
    desk.run("check_availability", **ASKED)
    page = page_of(desk)
    assert "Needs attention" in page
    assert "No taken times are looked up until you reconnect" in page
    assert "1 to reconnect under Integrations" in page


@pytest.mark.requirement("F17")
def test_a_write_that_is_refused_notes_it_too(desk: Desk, scripted: ScriptedCalendar) -> None:
    """The booking stands, its event doesn't, and no other is tried."""
    scripted.answer(403)
    first = desk.book(rome(27, "19:00"))
    write()
    second = desk.book(rome(28, "19:00"))
    write()
    assert len(scripted.requests) == 1
    assert source_of(desk.tenant).needs_reauth is True
    refusals = [told_of(desk, booking) for booking in (first, second)]
    assert [effect.state for effect in refusals] == [EffectState.FAILED] * 2
    assert all("again" in effect.error and PASSWORD not in effect.error for effect in refusals)
