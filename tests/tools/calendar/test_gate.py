"""The calendar gate opens with a bookable resource. A calendar alone has nothing to book."""

from __future__ import annotations

import pytest

from projects.connections.integrations import mark_needs_reauth
from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.conftest import connect, forget
from tools.engine.business_state import read_state
from tools.engine.gates import NO_CALENDAR, NO_RESOURCES, needs_calendar


def gate(bookings: Bookings) -> str:
    with bookings.tenant.tx():
        return needs_calendar(read_state(bookings.project, channel="chat"))


@pytest.mark.requirement("F07")
def test_a_bookable_resource_opens_the_gate(bookings: Bookings) -> None:
    """No external calendar is required."""
    assert gate(bookings) == ""
    bookings.stock()
    assert gate(bookings) == NO_CALENDAR


@pytest.mark.requirement("F06", "F07", "F12")
def test_a_calendar_without_a_bookable_resource_offers_no_booking(bookings: Bookings) -> None:
    """The reason names what is missing. A rejected sign-in does not limit our own bookings."""
    bookings.stock()
    source = connect(bookings.tenant, "https://cal.example.com/dav/anna/work/")
    assert gate(bookings) == NO_RESOURCES
    with bookings.tenant.tx():
        mark_needs_reauth(source.pk)
    assert gate(bookings) == NO_CALENDAR
    bookings.stock(("Two", "table", 2, 90))
    assert gate(bookings) == ""
    forget(bookings.tenant)
