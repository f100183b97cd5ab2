"""Sidebar badges: counts of items that need attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from console.promises.figures import in_tests
from conversations.inbox.waiting import Waiting
from projects.connections.integrations import needing_reauth
from projects.models import Project
from tenancy.prepared_queries import PreparedCounts
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
    to_reconnect, unknown, broken, todos, failed = _COUNTS(project.pk)
    return {
        "agent": Badge(to_reconnect),
        "inbox": Badge(Waiting(project).count if waiting is None else waiting),
        "effects": Badge(unknown),
        "promises": Badge(broken),
        "todos": Badge(min(todos + failed, MOST_COUNTED), failed=failed),
    }


def _counted(project_id: UUID) -> list[QuerySet[Any, Any]]:
    project = Project(pk=project_id, organization_id=current_organization_id())
    rows: tuple[QuerySet[Any], ...] = (
        needing_reauth(project),
        unknown_effects(project),
        recently_broken_promises(project).exclude(in_tests(project)),
        waiting_todos(project),
        failed_todos(project),
    )
    return [one.order_by().values("pk")[:MOST_COUNTED] for one in rows]


_COUNTS = PreparedCounts(_counted, kinds=(UUID,))
