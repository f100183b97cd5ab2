"""The Celery tasks: one per lane, each only a hint, and the tick that sweeps."""

from __future__ import annotations

from celery import shared_task
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


def _hint_of(lane: Lane) -> None:
    @shared_task(name=lane.task_name)
    def hint() -> None:
        worker.wake(lane.name)


for _lane in lanes():
    _hint_of(_lane)
