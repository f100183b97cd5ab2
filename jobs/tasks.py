"""The Celery tasks: one per lane, which only wakes a worker, and the periodic sweep."""

from __future__ import annotations

from celery import Task, shared_task
from django.db import connections

from jobs import runner
from jobs.lanes import Lane, lanes
from jobs.sweep import sweep as sweep_jobs


@shared_task(name="sweep")
def sweep() -> None:
    """Beat's periodic task. Workers sweep by themselves too, so nothing depends on beat."""
    try:
        sweep_jobs()
    finally:
        connections.close_all()


class Hint(Task):  # type: ignore[type-arg]  # not generic at run time
    """The task of a lane, consumed by `hint_strategy`."""

    Strategy = "jobs.celery_strategy:hint_strategy"


def _hint_of(lane: Lane) -> None:
    @shared_task(name=lane.task_name, base=Hint)
    def hint() -> None:
        runner.wake(lane.name)


for _lane in lanes():
    _hint_of(_lane)
