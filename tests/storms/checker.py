"""Compares PostgreSQL with the outside world's log after a storm, and reports every violation."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.attempt import BROKE_OFF
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.conversations.effects.ledger_check import violations
from tests.storms.world import CLEAR, World
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS, WORKER_DIED
from tools.models import AfterAction, AfterActionState, Effect, EffectState


def findings(tenant: Tenant, world: World) -> list[str]:
    """Sentences, one per violation; empty after a harmless storm."""
    # Refused requests may be repeated; only executed ones must not be.
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
        if effect.attempts > MAX_ATTEMPTS:
            yield f"{effect.effect_key[:8]} was tried {effect.attempts} times"


def _may_be_unknown(effect: Effect) -> bool:
    """True if the worker died during the effect or lost the database, now or in an earlier attempt, or got no
    conclusive response.

    The worker's view counts: on a loaded machine it may stop waiting for a response that was on its way.
    """
    died = effect.error in (WORKER_DIED, BROKE_OFF) or effect.error.startswith("The worker that ran this died")
    return died or effect.is_uncertain or effect.http_status not in CLEAR


def _of_objects(tenant: Tenant, world: World) -> Iterator[str]:
    """A repeated promise is one effect: nothing that runs once happens to one object under two keys."""
    with tenant.tx():
        once = set(Effect.objects.filter(delivery="once").values_list("effect_key", flat=True))
    for thing, keys in world.objects.items():
        if len(keys & once) > 1:
            yield f"{thing} happened {len(keys)} times, by different promises"
