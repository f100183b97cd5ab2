"""What people say of a promise: that they kept it themselves, or that it is no longer wanted."""

from __future__ import annotations

from uuid import UUID

from django.db.models.functions import Now

from jobs.errors import WrongState
from projects.models import Project
from tools.engine.hooks import promise_answered
from tools.models import EffectState, Promise, PromiseState

# While an effect is on its way it decides by itself; an unknown one is answered where it is asked about.
UNDECIDED = frozenset({EffectState.PLANNED, EffectState.SENDING, EffectState.UNKNOWN})
REASON = 300


def say_it_was_kept(project: Project, promise_id: UUID, *, by: str) -> Promise:
    """Somebody did what was promised, also after it broke. `by` is who says so, in words.

    Raises Promise.DoesNotExist, WrongState.
    """
    return _answer(
        project,
        promise_id,
        standing=(PromiseState.OPEN, PromiseState.BROKEN),
        end=PromiseState.KEPT,
        reason=f"{by} did it.",
    )


def withdraw_promise(project: Project, promise_id: UUID, *, by: str) -> Promise:
    """It is no longer wanted. One that broke stays broken. Raises Promise.DoesNotExist, WrongState."""
    return _answer(
        project,
        promise_id,
        standing=(PromiseState.OPEN,),
        end=PromiseState.WITHDRAWN,
        reason=f"{by} withdrew it.",
    )


# What people answer, on the page and in the API.
ANSWERS = {PromiseState.KEPT: say_it_was_kept, PromiseState.WITHDRAWN: withdraw_promise}


def _answer(
    project: Project, promise_id: UUID, *, standing: tuple[PromiseState, ...], end: PromiseState, reason: str
) -> Promise:
    """Compare-and-set: of two people at once one is told what the other said."""
    promise = Promise.objects.select_related("effect").get(project_id=project.pk, pk=promise_id)
    if promise.effect and promise.effect.state in UNDECIDED:
        raise WrongState("Its effect is not over yet, and decides what becomes of the promise.")
    rows = Promise.objects.filter(pk=promise_id, state__in=standing)
    is_answered = rows.update(state=end, reason=reason[:REASON], closed_at=Now()) == 1
    promise.refresh_from_db()
    if not is_answered:
        raise WrongState(f"This promise is {PromiseState(promise.state).value} already.")
    promise_answered.send(promise)
    return promise
