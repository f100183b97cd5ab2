"""What counts as a calendar: something to book in the book, or a connected calendar that works (F06, F07, F12)."""

from __future__ import annotations

from projects.connections.integrations import mark_needs_reauth
from tests.book.conftest import Desk
from tests.calendar.conftest import connect, forget
from tools.engine.business_state import read_state
from tools.engine.gates import NO_CALENDAR, needs_calendar


def gate(desk: Desk) -> str:
    with desk.tenant.tx():
        return needs_calendar(read_state(desk.project, channel="chat"))


def test_the_book_is_a_calendar(desk: Desk) -> None:
    """F07: as it was before one could be connected."""
    assert gate(desk) == ""
    desk.stock()
    assert gate(desk) == NO_CALENDAR


def test_a_connected_calendar_is_one_while_it_takes_our_sign_in(desk: Desk) -> None:
    """F06, F07, F12: and its refusal takes nothing from what the book can do."""
    desk.stock()
    source = connect(desk.tenant, "https://cal.example.com/dav/anna/work/")
    assert gate(desk) == ""
    with desk.tenant.tx():
        mark_needs_reauth(source.pk)
    assert gate(desk) == NO_CALENDAR
    desk.stock(("Two", "table", 2, 90))
    assert gate(desk) == ""
    forget(desk.tenant)
