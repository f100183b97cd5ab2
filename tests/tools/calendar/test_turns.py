"""A connected calendar in whole turns: events block times, bookings appear, and a rejected sign-in ends no turn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Tenant, make_tenant
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.tools.calendar.conftest import connect, open_day, source_of
from tests.tools.calendar.radicale import PASSWORD, Calendar, Radicale
from tools.models import EffectState
from tools.services.calendar.availability import NOT_CHECKED

__all__ = ["turns"]


@pytest.fixture
def tenant(database: None) -> Tenant:
    return make_tenant("Nello")


@pytest.fixture
def agent(turns: Turns, caldav_server: Radicale) -> tuple[Turns, Calendar]:
    """An agent with every tool, and the business's calendar."""
    turns.configure(enabled_tools=None)
    calendar = caldav_server.calendar()
    connect(turns.tenant, calendar.url)
    return turns, calendar


def evening(turns: Turns) -> dict[str, Any]:
    return {"date": open_day(turns.tenant).isoformat(), "time": "19:00", "party_size": 2}


def ask(turns: Turns, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Return what the model reads from its call, and the reply."""
    turns.calls_tool(tool, arguments)
    turns.says("There you are.")
    turn = turns.say("At seven, for two, please.")
    assert turn.reply is not None
    return turns.result(turn), turn.reply.content


@pytest.mark.requirement("F07")
def test_an_event_blocks_a_time_and_a_booking_appears(agent: tuple[Turns, Calendar]) -> None:
    turns, calendar = agent
    day = open_day(turns.tenant)
    calendar.add(f"DTSTART;TZID=Europe/Rome:{day:%Y%m%d}T190000", "DURATION:PT1H")
    told, _ = ask(turns, "check_availability", evening(turns))
    assert "no table for 2 is free" in told
    assert "20:00" in told
    told, _ = ask(turns, "book_appointment", {**evening(turns), "time": "20:00", "name": "Ada"})
    assert told.startswith("Booked: a table for 2")
    turns.run("calendar")
    assert "Table for 2: Ada" in {event["SUMMARY"] for event in calendar.events()}


@pytest.mark.requirement("F17")
def test_a_rejected_sign_in_ends_no_turn(agent: tuple[Turns, Calendar]) -> None:
    """The model reads a sentence, the customer gets a reply, the connection is marked, and the effect is done."""
    turns, calendar = agent
    connect(turns.tenant, calendar.url, password=f"{PASSWORD}-of-old")
    told, reply = ask(turns, "check_availability", evening(turns))
    assert told.endswith(NOT_CHECKED)
    assert PASSWORD not in told
    assert reply == "There you are."
    assert source_of(turns.tenant).needs_reauth is True
    with turns.tenant.tx():
        [effect] = turns.effects(turns.conversation.turns.order_by("-seq")[0])
    assert effect.state == EffectState.DONE
    assert effect.result is not None
    assert effect.result["needs_reauth"] is True
