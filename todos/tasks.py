"""The Celery task of the todos: beat's tick, under the name of the source."""

from __future__ import annotations

from celery import shared_task

from jobs.wakeups import hint
from todos.approvals.approve import LANE


@shared_task(name="execute_todos_job")
def execute_todos_job() -> None:
    """Every 30 seconds: workers look for approved todos (L13). Each approval has hinted at once, and each sweep does: this is
    for the one hint that was lost while nothing swept.
    """
    hint([LANE])
