"""Reads PostgreSQL and the outside world's own log after a storm, and says everything that is wrong (E1-E8)."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Q

from jobs.models import Job, State
from tests.conftest import Tenant
from tests.effects.outside import violations
from tests.storms.world import World
from tools.models import AfterActionState, Effect, EffectState

# A worker that dies five times at a job leaves its effect to staff.
SHOWN = (EffectState.FAILED, EffectState.UNKNOWN)


def findings(tenant: Tenant, world: World) -> list[str]:
    """Sentences; none after a storm that did no harm."""
    # The target refuses a request that it counts as heard: only what it carried out may not happen twice.
    return [*violations(tenant, world.done.elements()), *_of_states(tenant, world), *_of_objects(tenant, world)]


def _of_states(tenant: Tenant, world: World) -> Iterator[str]:
    with tenant.tx():
        failed = Count("after_actions", filter=Q(after_actions__state=AfterActionState.FAILED))
        effects = list(Effect.objects.annotate(after_actions_failed=failed))
        failed_jobs = Job.objects.filter(lane="effect", state=State.FAILED)
        given_up = {row.subject_id: row.error for row in failed_jobs}
    for effect in effects:
        times = world.done[effect.effect_key]
        if effect.state == EffectState.FAILED and times:
            yield f"{effect.effect_key[:8]} is called failed, and the target carried it out"
        if effect.attempts > 5:
            yield f"{effect.effect_key[:8]} was tried {effect.attempts} times"
        if (error := given_up.get(effect.pk)) and effect.state not in SHOWN and effect.after_actions_failed == 0:
            yield f"{effect.effect_key[:8]} was given up ({error}), and nobody is told"


def _of_objects(tenant: Tenant, world: World) -> Iterator[str]:
    """A repeated promise is one effect: nothing that is done once happens to one object under two keys (E6)."""
    with tenant.tx():
        once = set(Effect.objects.filter(delivery="once").values_list("effect_key", flat=True))
    for thing, keys in world.objects.items():
        if len(keys & once) > 1:
            yield f"{thing} happened {len(keys)} times, by different promises"
