"""What needs a person: flagged conversations and failed jobs, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conversations.finding import customer_names
from conversations.models import Conversation
from jobs.models import Job, State
from projects.models import Project

SHOWN = 6
UNNAMED = "A customer"


@dataclass(frozen=True)
class Matter:
    """One thing to look at: a flagged conversation, or all failed jobs together when `conversation_id` is None."""

    title: str
    at: datetime
    conversation_id: UUID | None = None


@dataclass(frozen=True)
class Attention:
    """The newest matters, and how many there are."""

    matters: list[Matter]
    count: int


def what_needs_you(project: Project) -> Attention:
    """Everything that waits for staff, in the running transaction."""
    flagged = Conversation.objects.filter(project=project).exclude(flag="").order_by("-updated_at")
    failed = Job.objects.filter(project=project, state=State.FAILED).order_by("-finished_at")
    matters = [*_failed_jobs(failed.first(), count=failed.count()), *_flagged(list(flagged[:SHOWN]))]
    return Attention(matters[:SHOWN], count=flagged.count() + failed.count())


def _failed_jobs(newest: Job | None, *, count: int) -> list[Matter]:
    if newest is None:
        return []
    words = "1 job failed" if count == 1 else f"{count:,} jobs failed"
    return [Matter(title=words, at=newest.finished_at or newest.created_at)]


def _flagged(rows: list[Conversation]) -> list[Matter]:
    names = customer_names([row.persona_id for row in rows])
    return [
        Matter(title=f"{names.get(row.persona_id, UNNAMED)}: {row.flag}", at=row.updated_at, conversation_id=row.pk)
        for row in rows
    ]
