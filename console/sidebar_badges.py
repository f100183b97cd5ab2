"""Sidebar badges: counts of items that need attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from console.promises.figures import in_tests
from conversations.inbox.waiting import Waiting
from projects.connections.integrations import needing_reauth
from projects.models import Project
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import current_organization_id
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
        "agent": Badge(len(_TO_RECONNECT(project.pk))),
        "inbox": Badge(Waiting(project).count if waiting is None else waiting),
        "effects": Badge(len(_UNKNOWN(project.pk))),
        "promises": Badge(len(_BROKEN(project.pk))),
        "todos": count_todos(project),
    }


def count_todos(project: Project) -> Badge:
    """Waiting and failed todos, in one query; capped at MOST_COUNTED."""
    found = [status for (status,) in _TODOS(project.pk)]
    return Badge(len(found), failed=found.count(TodoStatus.FAILED))


def _prepared(build: Callable[[Project], QuerySet[Any]], column: str = "pk") -> PreparedValues:
    """The rows of a badge, by the key of the project. Every page runs them, so they are compiled once."""

    def rows(project_id: UUID) -> QuerySet[Any, Any]:
        project = Project(pk=project_id, organization_id=current_organization_id())
        return build(project).order_by().values_list(column)[:MOST_COUNTED]

    return PreparedValues(rows, kinds=(UUID,))


_TO_RECONNECT = _prepared(needing_reauth)
_UNKNOWN = _prepared(unknown_effects)
_BROKEN = _prepared(lambda project: recently_broken_promises(project).exclude(in_tests(project)))
_TODOS = _prepared(lambda project: Todo.objects.filter(IS_WAITING | HAS_FAILED, project=project), "status")
