"""Reads PostgreSQL and the outside world's own log after a storm, and says everything that is wrong (E1-E8)."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conftest import Tenant
from tests.effects.outside import violations
from tests.storms.world import World
from tools.execution.ending import MOST_ATTEMPTS
from tools.models import Effect, EffectState


def findings(tenant: Tenant, world: World) -> list[str]:
    """Sentences; none after a storm that did no harm."""
    # The target refuses a request that it counts as heard: only what it carried out may not happen twice.
    return [*violations(tenant, world.done.elements()), *_of_states(tenant, world), *_of_objects(tenant, world)]


def _of_states(tenant: Tenant, world: World) -> Iterator[str]:
    with tenant.tx():
        effects = list(Effect.objects.all())
    for effect in effects:
        if effect.state == EffectState.FAILED and world.done[effect.effect_key]:
            yield f"{effect.effect_key[:8]} is called failed, and the target carried it out"
        if effect.attempts > MOST_ATTEMPTS:
            yield f"{effect.effect_key[:8]} was tried {effect.attempts} times"


def _of_objects(tenant: Tenant, world: World) -> Iterator[str]:
    """A repeated promise is one effect: nothing that is done once happens to one object under two keys (E6)."""
    with tenant.tx():
        once = set(Effect.objects.filter(delivery="once").values_list("effect_key", flat=True))
    for thing, keys in world.objects.items():
        if len(keys & once) > 1:
            yield f"{thing} happened {len(keys)} times, by different promises"
