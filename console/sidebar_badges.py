"""Sidebar badges: counts of items that need attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from console.promises.figures import in_tests
from conversations.inbox.waiting import Waiting
from projects.connections.integrations import needing_reauth
from projects.models import Project
from todos.attention import HAS_FAILED, IS_WAITING
from todos.models import Todo, TodoStatus
from tools.engine.attention import recently_broken_promises, unknown_effects

# Counts are capped here.
MOST_COUNTED = 999


@dataclass(frozen=True)
class Badge:
    """The number of items on a page that need attention; `failed` of them failed."""

    waiting: int
    failed: int = 0


def sidebar_badges(project: Project, *, waiting: int | None = None) -> Mapping[str, Badge]:
    """Badges by page name. `waiting` is the inbox's count if the page has read it. Call inside the tenant's transaction."""
    return {
        "agent": _badge(needing_reauth(project)),
        "inbox": Badge(Waiting(project).count if waiting is None else waiting),
        "effects": _badge(unknown_effects(project)),
        "promises": _badge(recently_broken_promises(project).exclude(in_tests(project))),
        "todos": count_todos(project),
    }


def count_todos(project: Project) -> Badge:
    """Waiting and failed todos, in one query; capped at MOST_COUNTED."""
    rows = Todo.objects.filter(IS_WAITING | HAS_FAILED, project=project).order_by()[:MOST_COUNTED]
    failed = Count("pk", filter=Q(status=TodoStatus.FAILED))
    return Badge(**rows.aggregate(waiting=Count("pk"), failed=failed))


def _badge(waiting: QuerySet[Any]) -> Badge:
    return Badge(waiting.count())
