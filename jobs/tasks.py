"""The Celery tasks: one per lane, each only a hint, and the tick that sweeps."""

from __future__ import annotations

from celery import Task, shared_task
from django.db import connections

from jobs import worker
from jobs.lanes import Lane, lanes
from jobs.sweep import sweep as sweep_jobs


@shared_task(name="sweep")
def sweep() -> None:
    """Beat's tick. Every worker sweeps by itself too: beat's death changes nothing."""
    try:
        sweep_jobs()
    finally:
        connections.close_all()


class Hint(Task):  # type: ignore[type-arg]  # a class at run time, not a generic one
    """The task of a lane, which a worker takes in its own way."""

    Strategy = "jobs.celery_strategy:hint_strategy"


def _hint_of(lane: Lane) -> None:
    @shared_task(name=lane.task_name, base=Hint)
    def hint() -> None:
        worker.wake(lane.name)


for _lane in lanes():
    _hint_of(_lane)
