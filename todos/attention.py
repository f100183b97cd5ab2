"""What of the todos waits for a person."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from projects.models import Project
from todos.models import Todo, TodoStatus

# A failed todo is news for so long, unless somebody reviews it again before; after that it is history.
NEWS = timedelta(days=7)
WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.NEEDS_ATTENTION, TodoStatus.APPROVED)
# An approved todo waits for a person when no tool carries it out.
WITHOUT_WORKER = ~Q(status=TodoStatus.APPROVED) | Q(tool="", type=None) | Q(tool="", type__tools=[])
IS_WAITING = WITHOUT_WORKER & Q(status__in=WAITING)
# What a person has put down as failed they know of.
HAS_FAILED = Q(status=TodoStatus.FAILED, taker="", status_at__gt=Now() - NEWS)


def waiting_todos(project: Project) -> QuerySet[Todo]:
    """Todos to be reviewed, those whose outcome somebody has to look at, and approved ones that no tool carries out; the newest
    first.
    """
    return Todo.objects.filter(IS_WAITING, project=project).order_by("-status_at")


def failed_todos(project: Project) -> QuerySet[Todo]:
    """Todos whose run failed within NEWS, and that nobody has brought back to review since; the newest first."""
    return Todo.objects.filter(HAS_FAILED, project=project).order_by("-status_at")
