"""Matters that wait for staff: the conversations of the inbox by reason, and those of no conversation.

The count is the inbox's, so it is the number beside “Inbox” in the sidebar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from console.inbox.reasons import LABELS
from console.promises.figures import in_tests
from conversations.common.customer_names import customer_names
from conversations.inbox.waiting import Reason, Waiting
from conversations.models import Conversation
from jobs.models import Job, State
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import Project
from tenancy.prepared_queries import PreparedCounts, PreparedNewest
from todos.attention import failed_todos, waiting_todos
from todos.models import Todo, TodoStatus
from tools.engine.attention import recently_unsent_promises, unknown_effects
from tools.engine.limits.usage import open_alerts, sentence_of

UNNAMED = lazy("A customer")


@dataclass(frozen=True)
class Matter:
    """One item, or several of a kind. `kind` selects its sentence in the template, `detail` completes it."""

    kind: str
    count: int
    url: str
    tone: str
    icon: str
    detail: str = ""
    name: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class Attention:
    """The conversations that wait, by their main reason, and the other matters."""

    conversations: list[Matter]
    others: list[Matter]
    count: int


def what_needs_you(project: Project, *, is_developer: bool) -> Attention:
    """Everything waiting for staff; failed jobs for developers only. Call inside the tenant's transaction."""
    waiting = Waiting(project)
    others = [*_others(project), *(_failed_jobs(project) if is_developer else ())]
    return Attention(list(_by_reason(project, waiting)), others, count=waiting.count)


def _by_reason(project: Project, waiting: Waiting) -> Iterator[Matter]:
    groups = waiting.main_reasons
    for reason in Reason:
        if ids := groups.get(reason):
            yield _matter(project, reason, ids)


def _matter(project: Project, reason: Reason, ids: Sequence[UUID]) -> Matter:
    label = LABELS[reason]
    if len(ids) > 1:
        url = f"{reverse('inbox', args=[project.slug])}?reason={reason.value}"
        return Matter(reason.value, len(ids), url, label.tone, label.icon)
    row = Conversation.objects.get(pk=ids[0])
    return Matter(
        reason.value,
        1,
        reverse("conversation", args=[project.slug, row.pk]),
        label.tone,
        label.icon,
        detail=translated(row.flag),
        name=customer_names([row.persona_id]).get(row.persona_id, UNNAMED),
        at=row.updated_at,
    )


def _others(project: Project) -> Iterator[Matter]:
    """Limits, messages that no service sends, and effects and todos of no conversation."""
    alerts = open_alerts(project)
    if alerts:
        url = reverse("agent", kwargs={"project_slug": project.slug, "section": "limits"})
        tone = "bad" if alerts[0].is_reached else "warn"
        detail = sentence_of(alerts[0]) if len(alerts) == 1 else ""
        yield Matter("limits", len(alerts), url, tone, "hand-stop", detail=detail, at=alerts[0].created_at)
    unsent, unknown = _COUNTS(project.pk)
    if unsent:
        yield Matter("unsent", unsent, reverse("promises", args=[project.slug]) + "?state=not_sent", "warn", "inbox")
    if unknown:
        yield Matter("effects", unknown, reverse("promises", args=[project.slug]), "warn", "help-circle")
    yield from _todos(project, "todos", _WAITING, tone="warn")
    yield from _todos(project, "failed_todos", _FAILED, tone="bad")


def _todos(project: Project, kind: str, rows: PreparedNewest[Todo], *, tone: str) -> Iterator[Matter]:
    """A single todo by its title, several as their number."""
    found = rows.newest(project.pk)
    if len(found) == 1:
        url = reverse("todo", args=[project.slug, found[0].pk])
        kind = found[0].status if found[0].status in (TodoStatus.NEEDS_ATTENTION, TodoStatus.APPROVED) else kind
        yield Matter(kind, 1, url, tone, "checklist", name=translated(found[0].heading), at=found[0].status_at)
    elif found:
        count = rows.count(project.pk, newest=found)
        yield Matter(kind, count, reverse("todos", args=[project.slug]), tone, "checklist")


def _failed_jobs(project: Project) -> Iterator[Matter]:
    failed = Job.objects.filter(project=project, state=State.FAILED).count()
    if failed:
        yield Matter("failed_jobs", failed, reverse("failed_jobs", args=[project.slug]), "bad", "alert-triangle")


def _of_no_conversation(select: Callable[[Project], QuerySet[Todo]]) -> PreparedNewest[Todo]:
    return PreparedNewest(
        lambda project: select(Project(pk=project)).filter(conversation_id=None), kinds=(UUID,), most=2
    )


_WAITING, _FAILED = _of_no_conversation(waiting_todos), _of_no_conversation(failed_todos)


def _unsent_and_unknown(project_id: UUID) -> list[QuerySet[Any]]:
    project = Project(pk=project_id)
    return [
        recently_unsent_promises(project).exclude(in_tests(project)),
        unknown_effects(project).filter(conversation_id=None),
    ]


# The numbers of promises whose message was not sent, and of effects without a conversation and with an unknown outcome.
_COUNTS = PreparedCounts(_unsent_and_unknown, kinds=(UUID,))
