"""Reads PostgreSQL and the outside world's own log after a storm, and says everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.attempt import BROKE_OFF
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.conversations.effects.ledger_check import violations
from tests.storms.world import CLEAR, World
from tools.engine.execution.outcome_policy import DIED, MOST_ATTEMPTS
from tools.models import AfterAction, AfterActionState, Effect, EffectState


def findings(tenant: Tenant, world: World) -> list[str]:
    """Sentences; none after a storm that did no harm."""
    # The target refuses a request that it counts as heard: only what it carried out may not happen twice.
    return [*violations(tenant, world.done.elements()), *_of_states(tenant, world), *_of_objects(tenant, world)]


def _of_states(tenant: Tenant, world: World) -> Iterator[str]:
    with tenant.tx():
        effects = list(Effect.objects.all())
        given_up = set(Job.objects.filter(lane="effect", state=State.FAILED).values_list("subject_id", flat=True))
        planned = AfterAction.objects.filter(state=AfterActionState.PLANNED).values_list("effect_id", flat=True)
        unfinished = given_up & {
            *planned,
            *(e.pk for e in effects if e.state in (EffectState.PLANNED, EffectState.SENDING)),
        }
    yield from (f"the job of effect {pk} was given up, and the effect was left in the middle" for pk in unfinished)
    for effect in effects:
        if effect.state == EffectState.FAILED and world.done[effect.effect_key]:
            yield f"{effect.effect_key[:8]} is called failed, and the target carried it out"
        if effect.state == EffectState.UNKNOWN and not _may_be_unknown(effect):
            yield f"{effect.effect_key[:8]} is called unknown, and its answer was clear: {effect.error}"
        if effect.attempts > MOST_ATTEMPTS:
            yield f"{effect.effect_key[:8]} was tried {effect.attempts} times"


def _may_be_unknown(effect: Effect) -> bool:
    """Its worker died at it or lost the database, now or at an earlier attempt, or no answer came that told anything.

    The worker's word counts for what it heard: on a loaded machine it stops waiting for an answer that was on its way.
    """
    died = effect.error in (DIED, BROKE_OFF) or effect.error.startswith("The worker that ran this died")
    return died or effect.is_uncertain or effect.http_status not in CLEAR


def _of_objects(tenant: Tenant, world: World) -> Iterator[str]:
    """A repeated promise is one effect: nothing that is done once happens to one object under two keys."""
    with tenant.tx():
        once = set(Effect.objects.filter(delivery="once").values_list("effect_key", flat=True))
    for thing, keys in world.objects.items():
        if len(keys & once) > 1:
            yield f"{thing} happened {len(keys)} times, by different promises"
