"""Jobs that continue a todo's run, by key. The first job is queued by the approval (todos.approvals.approve)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from jobs.enqueue import JobRequest, enqueue
from jobs.models import Job, State
from todos.approvals.approve import LANE
from todos.models import Approval, Todo
from tools.models import Effect


def queue_retry(todo: Todo, approval: Approval, effect: Effect, *, at: datetime) -> None:
    """Queue another attempt at an effect that wasn't sent."""
    _queue(todo, _retry_key(approval.pk, effect), run_after=at)


def queue_callback_check(todo: Todo, approval: Approval, effect: Effect, *, at: datetime) -> None:
    """Queue a check whether an asynchronous tool has answered."""
    _queue(todo, f"todo:{approval.pk}:callback:{effect.pk}:{effect.attempts}", run_after=at)


def queue_continuation(todo: Todo, approval: Approval, effect: Effect, *, answer: str) -> None:
    """Queue the rest of the run after a tool's callback or a decision of staff."""
    _queue(todo, f"todo:{approval.pk}:{answer}:{effect.pk}:{effect.attempts}")


def next_attempts(approval: Approval, effects: Iterable[Effect]) -> dict[UUID, datetime]:
    """The times of the effects' next attempts, by id: another job, still queued, will make them."""
    return next_attempts_of((approval.pk, effect) for effect in effects)


def next_attempts_of(runs: Iterable[tuple[UUID, Effect]]) -> dict[UUID, datetime]:
    """The same for effects of several approvals, each with its approval's id, in one query."""
    effect_ids = {_retry_key(approval_id, effect): effect.pk for approval_id, effect in runs if effect.attempts}
    if not effect_ids:
        return {}
    waiting = Job.objects.filter(key__in=effect_ids, state=State.QUEUED).values_list("key", "run_after")
    return {effect_ids[key]: run_after for key, run_after in waiting}


def _retry_key(approval_id: UUID, effect: Effect) -> str:
    return f"todo:{approval_id}:attempt:{effect.pk}:{effect.attempts + 1}"


def _queue(todo: Todo, key: str, *, run_after: datetime | None = None) -> None:
    enqueue(
        [
            JobRequest(
                lane=LANE,
                project_id=todo.project_id,
                subject_id=todo.pk,
                # Equal ordinals, so that a postponed job doesn't block the run of a later version.
                ordinal=0,
                key=key,
                run_after=run_after,
            )
        ]
    )
