"""Todos that nobody said yes to in time, and approvals that weren't used in time (T10)."""

from __future__ import annotations

from django.db.models.functions import Now

from jobs.sweep import sweep_tenants
from todos.models import Todo, TodoStatus
from todos.services import expire_todo

WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
# One organization's flood takes several sweeps, and keeps nobody else waiting.
MOST_AT_ONCE = 200
_OVERDUE = (
    "select distinct organization_id from todos_todo"
    " where status in ('pending_review', 'approved') and expires_at <= clock_timestamp()"
)


def expire_overdue_todos() -> None:
    """Expire what is overdue, in all tenants: the sweep's hook."""
    sweep_tenants(_OVERDUE, _expire_some, failed="Overdue todos were not expired")


def _expire_some() -> None:
    """One that somebody decides at this moment is left to them."""
    overdue = Todo.objects.filter(status__in=WAITING, expires_at__lte=Now()).order_by("pk")
    for todo in overdue.select_for_update(skip_locked=True, no_key=True)[:MOST_AT_ONCE]:
        expire_todo(todo)
