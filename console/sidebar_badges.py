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
from tenancy.prepared_queries import PreparedCount
from tenancy.scope import current_organization_id
from todos.attention import failed_todos, waiting_todos
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
        "agent": Badge(_TO_RECONNECT(project.pk)),
        "inbox": Badge(Waiting(project).count if waiting is None else waiting),
        "effects": Badge(_UNKNOWN(project.pk)),
        "promises": Badge(_BROKEN(project.pk)),
        "todos": count_todos(project),
    }


def count_todos(project: Project) -> Badge:
    """Waiting and failed todos; capped at MOST_COUNTED."""
    failed = _FAILED(project.pk)
    return Badge(min(_WAITING(project.pk) + failed, MOST_COUNTED), failed=failed)


def _count(build: Callable[[Project], QuerySet[Any]]) -> PreparedCount:
    """The number of a badge, by the key of the project."""

    def rows(project_id: UUID) -> QuerySet[Any, Any]:
        project = Project(pk=project_id, organization_id=current_organization_id())
        return build(project).order_by().values("pk")[:MOST_COUNTED]

    return PreparedCount(rows, kinds=(UUID,))


_TO_RECONNECT = _count(needing_reauth)
_UNKNOWN = _count(unknown_effects)
_BROKEN = _count(lambda project: recently_broken_promises(project).exclude(in_tests(project)))
_WAITING = _count(waiting_todos)
_FAILED = _count(failed_todos)
