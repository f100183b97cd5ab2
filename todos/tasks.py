"""The Celery task that beat schedules for todos."""

from __future__ import annotations

from celery import shared_task

from jobs.wakeups import hint
from todos.approvals.approve import LANE


@shared_task(name="execute_todos_job")
def execute_todos_job() -> None:
    """Wake the workers to look for approved todos, every 30 seconds. Approvals and sweeps send the same hint; this one
    recovers a hint lost while no sweep runs.
    """
    hint([LANE])
