"""What of the todos waits for a person."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from projects.models import Project
from todos.models import Todo, TodoStatus

# A number beside a link says no more beyond this.
MOST_COUNTED = 999
WAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.NEEDS_ATTENTION, TodoStatus.APPROVED)
# An approved todo waits for a person when no tool carries it out.
WITHOUT_WORKER = ~Q(status=TodoStatus.APPROVED) | Q(tool="", type=None) | Q(tool="", type__tools=[])


def waiting_todos(project: Project) -> QuerySet[Todo]:
    """Todos to be reviewed, those whose outcome somebody has to look at, and approved ones that no tool carries out; the newest
    first.
    """
    return Todo.objects.filter(WITHOUT_WORKER, project=project, status__in=WAITING).order_by("-status_at")


def count_waiting(project: Project) -> int:
    """How many of them there are, up to MOST_COUNTED."""
    return waiting_todos(project).order_by()[:MOST_COUNTED].count()
