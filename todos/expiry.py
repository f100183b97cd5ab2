"""Todos that nobody said yes to in time, and approvals that weren't used in time (T10)."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import connections
from django.db.models.functions import Now

from tenancy.scope import tenant_tx
from todos.models import Todo, TodoStatus
from todos.services import expire_todo

log = logging.getLogger(__name__)

WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
# One organization's flood takes several sweeps, and keeps nobody else waiting.
MOST_AT_ONCE = 200
_OVERDUE = (
    "select distinct organization_id from todos_todo"
    " where status in ('pending_review', 'approved') and expires_at <= clock_timestamp()"
)


def expire_overdue_todos() -> None:
    """Expire what is overdue, in all tenants: the sweep's hook."""
    for organization_id in _overdue():
        try:
            with tenant_tx(organization_id):
                _expire_some()
        except Exception:  # the worker's edge: one tenant's trouble keeps no other's todos
            log.exception("The overdue todos of organization %s were not expired.", organization_id)


def _expire_some() -> None:
    """One that somebody decides at this moment is left to them."""
    overdue = Todo.objects.filter(status__in=WAITING, expires_at__lte=Now()).order_by("pk")
    for todo in overdue.select_for_update(skip_locked=True, no_key=True)[:MOST_AT_ONCE]:
        expire_todo(todo)


def _overdue() -> list[UUID]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_OVERDUE)
        return [organization_id for (organization_id,) in cursor.fetchall()]
