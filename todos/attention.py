"""Queries for todos that need a person."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import DurationField, Q, QuerySet, Value
from django.db.models.functions import Cast, Now

from projects.models import Project
from todos.models import Todo, TodoStatus

# A failed todo is listed for this long, unless it is sent back to review first.
FAILED_LISTED_FOR = timedelta(days=7)
WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.NEEDS_ATTENTION, TodoStatus.APPROVED)
# An approved todo without tools waits for a person to do it.
NEEDS_PERSON = ~Q(status=TodoStatus.APPROVED) | Q(tool="", type=None) | Q(tool="", type__tools=[])
IS_WAITING = NEEDS_PERSON & Q(status__in=WAITING)
# Todos that a person marked as failed are left out: that person knows.
HAS_FAILED = Q(
    status=TodoStatus.FAILED, taker="", status_at__gt=Now() - Cast(Value(FAILED_LISTED_FOR), DurationField())
)


def waiting_todos(project: Project) -> QuerySet[Todo]:
    """Todos to review, todos with an outcome to look into, and approved todos without tools; newest first."""
    return Todo.objects.filter(IS_WAITING, project=project).order_by("-status_at")


def todos_to_review(project: Project) -> QuerySet[Todo]:
    """Todos that wait for an approval."""
    return Todo.objects.filter(project=project, status=TodoStatus.PENDING_REVIEW).order_by("-status_at")


def todos_to_check(project: Project) -> QuerySet[Todo]:
    """Todos with an outcome to look into."""
    return Todo.objects.filter(project=project, status=TodoStatus.NEEDS_ATTENTION).order_by("-status_at")


def todos_for_a_person(project: Project) -> QuerySet[Todo]:
    """Approved todos that no tool does."""
    rows = Todo.objects.filter(NEEDS_PERSON, project=project, status=TodoStatus.APPROVED, tool="")
    return rows.order_by("-status_at")


def failed_todos(project: Project) -> QuerySet[Todo]:
    """Todos whose run failed within FAILED_LISTED_FOR and that nobody has sent back to review since; newest first."""
    return Todo.objects.filter(HAS_FAILED, project=project).order_by("-status_at")
