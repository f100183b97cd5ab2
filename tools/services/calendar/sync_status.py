"""Sync status of a booking's event, for staff."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from tools.models import Booking, BookingState, Effect, EffectState


@dataclass(frozen=True)
class SyncStatus:
    """`tone` is ok, act, warn or bad; `why` is empty if nothing is wrong."""

    tone: str
    icon: str
    words: str
    why: str
    effect_id: UUID


def sync_status_of(booking: Booking) -> SyncStatus | None:
    """Return the status of the booking's last sync; None if it was never synced."""
    effect = Effect.objects.filter(pk=booking.calendar_effect_id).first() if booking.calendar_effect_id else None
    if effect is None:
        return None
    tone, icon, words = _words(EffectState(effect.state), is_wanted=booking.state == BookingState.CONFIRMED)
    return SyncStatus(tone, icon, words, effect.error, effect.pk)


def _words(state: EffectState, *, is_wanted: bool) -> tuple[str, str, str]:
    match state:
        case EffectState.DONE:
            return (
                "ok",
                "circle-check",
                gettext("In the calendar") if is_wanted else gettext("Removed from the calendar"),
            )
        case EffectState.PLANNED | EffectState.SENDING:
            return (
                "act",
                "loader-2",
                gettext("Being added to the calendar") if is_wanted else gettext("Being removed from the calendar"),
            )
        case EffectState.UNKNOWN:
            return (
                "warn",
                "help-circle",
                gettext("May not be in the calendar") if is_wanted else gettext("May still be in the calendar"),
            )
        case _:
            return (
                "bad",
                "alert-triangle",
                gettext("Not in the calendar") if is_wanted else gettext("Still in the calendar"),
            )
