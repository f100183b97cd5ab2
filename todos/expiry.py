"""Expiry of todos that were not approved in time and of approvals that were not used in time."""

from __future__ import annotations

from django.db.models.functions import Now

from jobs.sweep import sweep_tenants
from todos.models import Todo, TodoStatus
from todos.services import expire_todo

WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
# Limits one sweep per organization, so that a backlog delays no other organization.
MOST_AT_ONCE = 200
_OVERDUE = (
    "select distinct organization_id from todos_todo"
    " where status in ('pending_review', 'approved') and expires_at <= clock_timestamp()"
)


def expire_overdue_todos() -> None:
    """Expire overdue todos of all tenants. Called by the sweep."""
    sweep_tenants(_OVERDUE, _expire_some, failed="Overdue todos were not expired")


def _expire_some() -> None:
    """Skip todos that are locked: somebody is deciding on them at this moment."""
    overdue = Todo.objects.filter(status__in=WAITING, expires_at__lte=Now()).order_by("pk")
    for todo in overdue.select_for_update(skip_locked=True, no_key=True)[:MOST_AT_ONCE]:
        expire_todo(todo)
