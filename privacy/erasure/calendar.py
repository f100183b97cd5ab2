"""Events of an erased customer's bookings in the connected calendar."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from privacy.models import Erasure
from tools.engine.ledger import OPEN
from tools.models import Booking, Effect, EffectState

# The calendar lane retries for a quarter of an hour.
LONGEST_WAIT = timedelta(hours=1)


def settle_events(erasure: Erasure) -> bool:
    """Take note of events that were rewritten, and of those that could not be. False while one is being written."""
    waiting: list[UUID] = []
    left = list(erasure.left)
    for booking in Booking.objects.filter(pk__in=erasure.bookings).order_by("pk"):
        effect = Effect.objects.filter(pk__in=[booking.calendar_effect_id]).first()
        if effect is None or effect.state == EffectState.DONE:
            continue
        if effect.state in OPEN and effect.created_at > timezone.now() - LONGEST_WAIT:
            waiting.append(booking.pk)
        elif address := booking.calendar_url or str((effect.request or {}).get("event", "")):
            left.append(address)
    Erasure.objects.filter(pk=erasure.pk).update(bookings=waiting, left=left)
    return not waiting
