"""Answers of staff to a promise: kept by themselves, or withdrawn. An answer holds for its repetitions, too."""

from __future__ import annotations

from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext

from jobs.errors import WrongState
from projects.models import Project
from tools.engine.hooks import promise_answered
from tools.engine.promises import same_promises
from tools.models import EffectState, Evidence, Promise, PromiseOwner, PromiseState

# An effect that isn't over decides by itself; an unknown outcome is resolved on the effect.
UNFINISHED_STATES = frozenset({EffectState.PLANNED, EffectState.SENDING, EffectState.UNKNOWN})
MAX_REASON_LENGTH = 300


def mark_kept(project: Project, promise_id: UUID, *, by: str) -> Promise:
    """Mark an open or broken promise as kept by a person. `by` is the person's name.

    Raises Promise.DoesNotExist, WrongState.
    """
    return _answer(
        project,
        promise_id,
        states=(PromiseState.OPEN, PromiseState.BROKEN),
        new_state=PromiseState.KEPT,
        reason=f"{by} did it.",
    )


def withdraw_promise(project: Project, promise_id: UUID, *, by: str) -> Promise:
    """Withdraw an open promise. `by` is the person's name. Raises Promise.DoesNotExist, WrongState."""
    return _answer(
        project,
        promise_id,
        states=(PromiseState.OPEN,),
        new_state=PromiseState.WITHDRAWN,
        reason=f"{by} withdrew it.",
    )


# The answers, on the page and in the API.
ANSWERS = {PromiseState.KEPT: mark_kept, PromiseState.WITHDRAWN: withdraw_promise}


def _answer(
    project: Project, promise_id: UUID, *, states: tuple[PromiseState, ...], new_state: PromiseState, reason: str
) -> Promise:
    """Close the promise and its repetitions by compare-and-set. The second of two concurrent answers raises WrongState."""
    promise = Promise.objects.select_related("effect").get(project_id=project.pk, pk=promise_id)
    if promise.effect and promise.effect.state in UNFINISHED_STATES:
        raise WrongState(gettext("The promise’s effect isn’t finished yet and decides the outcome."))
    repeated = list(same_promises(promise).filter(state__in=states).exclude(pk=promise_id))
    rows = Promise.objects.filter(pk=promise_id, state__in=states)
    evidence = Evidence.PERSON if new_state == PromiseState.KEPT else Evidence.NONE
    changes = {"evidence": evidence, "owner": PromiseOwner.NOBODY, "reason": reason[:MAX_REASON_LENGTH]}
    is_answered = rows.update(state=new_state, closed_at=Now(), **changes) == 1
    promise.refresh_from_db()
    if not is_answered:
        raise WrongState(gettext("This promise is already %(value)s.") % {"value": PromiseState(promise.state).value})
    for one in repeated:
        if Promise.objects.filter(pk=one.pk, state__in=states).update(state=new_state, closed_at=Now(), **changes):
            one.refresh_from_db()
            promise_answered.send(one)
    promise_answered.send(promise)
    return promise
