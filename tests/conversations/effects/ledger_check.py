"""Checks our ledger of effects against the outside world's own log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conversations.models import Event
from tests.conftest import Tenant
from tools.models import AfterAction, AfterActionState, Effect, EffectState

FINAL = (EffectState.DONE, EffectState.FAILED, EffectState.UNKNOWN, EffectState.HELD, EffectState.CANCELLED)


def violations(tenant: Tenant, keys: Iterable[str]) -> list[str]:
    """All inconsistencies, as sentences. `keys` are the Idempotency-Keys of all requests that reached the target."""
    reached = Counter(keys)
    with tenant.tx():
        effects = list(Effect.objects.prefetch_related("after_actions"))
        told = Counter(
            Event.objects.filter(idn="urgent_message").values_list("payload__effect", flat=True),
        )
    found = [
        f"{key} reached the target and is no effect" for key in reached.keys() - {one.effect_key for one in effects}
    ]
    for effect in effects:
        found += [f"{effect.effect_key[:8]} ({effect.delivery}): {what}" for what in _of(effect, reached, told)]
    return found


def _of(effect: Effect, reached: Counter[str], told: Counter[str]) -> Iterable[str]:
    times = reached[effect.effect_key]
    if effect.state not in FINAL:
        yield f"is lost: it is still {effect.state}"
    if effect.delivery == "once" and times > 1:
        yield f"was sent {times} times"
    if effect.state == EffectState.DONE and effect.definition["action"]["type"] == "send_webhook" and times == 0:
        yield "is called done, and the target never got it"
    if effect.state in (EffectState.HELD, EffectState.CANCELLED) and times:
        yield f"is {effect.state}, and the target got it"
    yield from _of_after_actions(effect, list(effect.after_actions.all()), told[str(effect.pk)])


def _of_after_actions(effect: Effect, rows: list[AfterAction], told: int) -> Iterable[str]:
    if effect.state == EffectState.DONE and len(rows) != len(effect.definition["after_actions"]):
        yield f"has {len(rows)} after-actions"
    if any(row.state == AfterActionState.PLANNED for row in rows):
        yield "has an after-action that never ran"
    # A failed one is told by the effect's end instead.
    has_told = any(row.type == "send_urgent_message" and row.state != AfterActionState.SKIPPED for row in rows)
    if told != (1 if has_told or effect.state in (EffectState.FAILED, EffectState.UNKNOWN) else 0):
        yield f"was told {told} times, being {effect.state}"
