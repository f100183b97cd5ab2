"""The calendar gate opens with a bookable resource, or with a connected calendar that works."""

from __future__ import annotations

import pytest

from projects.connections.integrations import mark_needs_reauth
from tests.tools.bookings.conftest import Desk
from tests.tools.calendar.conftest import connect, forget
from tools.engine.business_state import read_state
from tools.engine.gates import NO_CALENDAR, needs_calendar


def gate(desk: Desk) -> str:
    with desk.tenant.tx():
        return needs_calendar(read_state(desk.project, channel="chat"))


@pytest.mark.requirement("F07")
def test_a_bookable_resource_opens_the_gate(desk: Desk) -> None:
    """No external calendar is required."""
    assert gate(desk) == ""
    desk.stock()
    assert gate(desk) == NO_CALENDAR


@pytest.mark.requirement("F06", "F07", "F12")
def test_a_connected_calendar_opens_the_gate_until_it_rejects_the_sign_in(desk: Desk) -> None:
    """A rejected sign-in does not limit our own bookings."""
    desk.stock()
    source = connect(desk.tenant, "https://cal.example.com/dav/anna/work/")
    assert gate(desk) == ""
    with desk.tenant.tx():
        mark_needs_reauth(source.pk)
    assert gate(desk) == NO_CALENDAR
    desk.stock(("Two", "table", 2, 90))
    assert gate(desk) == ""
    forget(desk.tenant)
