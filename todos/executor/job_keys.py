"""The jobs by which a todo's run goes on later; its first is queued by its approval (todos.approvals.approve)."""

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
    """Let an effect that wasn't sent be tried again."""
    _queue(todo, _retry_key(approval, effect), run_after=at)


def queue_look(todo: Todo, approval: Approval, effect: Effect, *, at: datetime) -> None:
    """Let somebody look whether a tool that answers later has answered."""
    _queue(todo, f"todo:{approval.pk}:callback:{effect.pk}:{effect.attempts}", run_after=at)


def queue_answered(todo: Todo, approval: Approval, effect: Effect, *, answer: str) -> None:
    """Let the run go on after an answer: a tool's that called back, or staff's."""
    _queue(todo, f"todo:{approval.pk}:{answer}:{effect.pk}:{effect.attempts}")


def approval_of(key: str) -> UUID:
    """The approval whose run a job of the lane carries on."""
    return UUID(key.split(":")[1])


def put_off(approval: Approval, effects: Iterable[Effect]) -> set[UUID]:
    """The effects whose next attempt isn't due yet: the job that makes it still waits, and isn't the one that asks."""
    of_key = {_retry_key(approval, effect): effect.pk for effect in effects if effect.attempts}
    if not of_key:
        return set()
    waiting = Job.objects.filter(key__in=of_key, state=State.QUEUED).values_list("key", flat=True)
    return {of_key[key] for key in waiting}


def _retry_key(approval: Approval, effect: Effect) -> str:
    return f"todo:{approval.pk}:attempt:{effect.pk}:{effect.attempts + 1}"


def _queue(todo: Todo, key: str, *, run_after: datetime | None = None) -> None:
    enqueue(
        [
            JobRequest(
                lane=LANE,
                project_id=todo.project_id,
                subject_id=todo.pk,
                # One that is put off holds up no run of a later version.
                ordinal=0,
                key=key,
                run_after=run_after,
            )
        ]
    )
