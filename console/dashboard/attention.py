"""Items that need a person: requests for one, unknown effects, todos, promises, failed jobs, flagged conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from console.promises.figures import in_tests
from console.sidebar_badges import count_todos
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from jobs.models import Job, State
from projects.models import Project
from todos.attention import failed_todos, waiting_todos
from todos.models import Todo, TodoStatus
from tools.engine.attention import recently_broken_promises, recently_unsent_promises, unknown_effects
from tools.engine.limit_alerts import open_alerts, sentence_of
from tools.models import Effect, Escalation, LimitAlert, Promise
from tools.services.support.escalations import waiting_requests

SHOWN = 6
UNNAMED = "A customer"
WAITS: Mapping[str, str] = {
    TodoStatus.PENDING_REVIEW: "Todo to review",
    TodoStatus.APPROVED: "Todo to assign",
}


@dataclass(frozen=True)
class Matter:
    """One item, or several of a kind grouped. `page` is a URL name, `section` its section if it has several, `id` the
    row to open, `query` the page's filter.
    """

    title: str
    at: datetime
    page: str
    id: UUID | None = None
    tone: str = "warn"
    icon: str = "hand-stop"
    query: str = ""
    section: str = ""


@dataclass(frozen=True)
class Attention:
    """The newest items, and the total count."""

    matters: list[Matter]
    count: int


def what_needs_you(project: Project) -> Attention:
    """Everything waiting for staff, most urgent kinds first. Call inside the tenant's transaction."""
    unknown, tests = unknown_effects(project), in_tests(project)
    broken = recently_broken_promises(project).exclude(tests)
    unsent = recently_unsent_promises(project).exclude(tests)
    flagged = Conversation.objects.filter(project=project).exclude(flag="").order_by("-updated_at")
    failed = Job.objects.filter(project=project, state=State.FAILED).order_by("-finished_at")
    asked, todos, limits = waiting_requests(project), count_todos(project), open_alerts(project)
    counts = {
        "escalations": asked.count(),
        "effects": unknown.count(),
        "todos": todos.waiting,
        "promises": broken.count(),
        "unsent": unsent.count(),
        "failed_jobs": failed.count(),
        "limits": len(limits),
    }
    matters = [
        *_asked(asked.first(), count=counts["escalations"]),
        *_limits(limits),
        *_unknown(unknown.first(), count=counts["effects"]),
        *_failed_todos(failed_todos(project).first(), count=todos.failed),
        *_todos(waiting_todos(project).first(), count=todos.waiting - todos.failed),
        *_broken(broken.first(), count=counts["promises"]),
        *_unsent(unsent.first(), count=counts["unsent"]),
        *_failed_jobs(failed.first(), count=counts["failed_jobs"]),
        *_flagged(list(flagged[:SHOWN])),
    ]
    return Attention(matters[:SHOWN], count=sum(counts.values()) + flagged.count())


def _asked(longest: Escalation | None, *, count: int) -> list[Matter]:
    if longest is None:
        return []
    at = longest.requested_at or longest.created_at
    if count > 1:
        return [
            Matter(f"{count:,} customers are waiting for a person", at, "escalations", tone="bad", icon="message-user")
        ]
    words = f"Customer waiting for a person: {longest.reason}"
    return [Matter(words, at, "conversation", id=longest.conversation_id, tone="bad", icon="message-user")]


def _limits(alerts: Sequence[LimitAlert]) -> list[Matter]:
    if not alerts:
        return []
    worst = alerts[0]
    words = sentence_of(worst) if len(alerts) == 1 else f"{len(alerts):,} limits are half used or reached"
    tone = "bad" if worst.is_reached else "warn"
    return [Matter(words, worst.created_at, "agent", tone=tone, icon="hand-stop", section="limits")]


def _unknown(newest: Effect | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = f"Confirm the outcome of {newest.tool}" if count == 1 else f"Confirm the outcome of {count:,} effects"
    return [Matter(words, newest.created_at, "effects", icon="help-circle", query="?state=unknown")]


def _todos(newest: Todo | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    if count > 1:
        return [Matter(f"{count:,} todos need attention", newest.status_at, "todos", icon="checklist")]
    waits = WAITS.get(newest.status, "Todo needs attention")
    return [Matter(f"{waits}: {newest.description}", newest.status_at, "todo", id=newest.pk, icon="checklist")]


def _failed_todos(newest: Todo | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = f"Todo failed: {newest.description}" if count == 1 else f"{count:,} todos failed in the last 7 days"
    page, todo_id = ("todo", newest.pk) if count == 1 else ("todos", None)
    return [Matter(words, newest.status_at, page, id=todo_id, tone="bad", icon="alert-triangle")]


def _broken(newest: Promise | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = f"Promise broken: “{newest.quote}”" if count == 1 else f"{count:,} promises broken in the last 7 days"
    at = newest.closed_at or newest.created_at
    return [Matter(words, at, "promises", tone="bad", icon="circle-x", query="?state=broken")]


def _unsent(newest: Promise | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = f"Not sent: “{newest.quote}”" if count == 1 else f"{count:,} promises weren’t sent"
    words += ". Connect a provider."
    return [Matter(words, newest.created_at, "promises", icon="inbox", query="?state=not_sent")]


def _failed_jobs(newest: Job | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = "1 failed job" if count == 1 else f"{count:,} failed jobs"
    at = newest.finished_at or newest.created_at
    return [Matter(words, at, "failed_jobs", tone="bad", icon="alert-triangle")]


def _flagged(rows: Sequence[Conversation]) -> list[Matter]:
    names = customer_names([row.persona_id for row in rows])
    return [
        Matter(f"{names.get(row.persona_id, UNNAMED)}: {row.flag}", row.updated_at, "conversation", id=row.pk)
        for row in rows
    ]
