"""The sync status of a booking's calendar event."""

from __future__ import annotations

import pytest

from tests.tools.bookings.conftest import Bookings, rome
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.models import BookingState, Effect, EffectState
from tools.services.calendar.sync_status import sync_status_of


@pytest.mark.parametrize(
    ("state", "tone", "confirmed", "cancelled"),
    [
        (EffectState.DONE, "ok", "In the calendar", "Removed from the calendar"),
        (EffectState.PLANNED, "act", "Being added to the calendar", "Being removed from the calendar"),
        (EffectState.SENDING, "act", "Being added to the calendar", "Being removed from the calendar"),
        (EffectState.UNKNOWN, "warn", "May not be in the calendar", "May still be in the calendar"),
        (EffectState.FAILED, "bad", "Not in the calendar", "Still in the calendar"),
        (EffectState.CANCELLED, "bad", "Not in the calendar", "Still in the calendar"),
    ],
)
def test_the_status_depends_on_the_effect_and_the_booking(
    state: EffectState, tone: str, confirmed: str, cancelled: str, bookings: Bookings, scripted: ScriptedCalendar
) -> None:
    booking = bookings.book(rome(27, "19:00"))
    with bookings.tenant.tx():
        Effect.objects.filter(pk=booking.calendar_effect_id).update(state=state, error="why")
        for booking.state, words in ((BookingState.CONFIRMED, confirmed), (BookingState.CANCELLED, cancelled)):
            standing = sync_status_of(booking)
            assert standing is not None
            assert (standing.tone, standing.words, standing.why) == (tone, words, "why")


def test_a_booking_that_was_never_synced_has_no_status(bookings: Bookings) -> None:
    booking = bookings.book(rome(27, "19:00"))
    with bookings.tenant.tx():
        assert sync_status_of(booking) is None
