"""Questions about which the knowledge base had nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conversations.analytics.period import Period
from conversations.models import Conversation, TurnCall
from conversations.models.step import SEARCHES
from projects.knowledge.answers import NOTHING_FOUND
from projects.models import Project
from tenancy.ids import uuid7_floor

SHOWN = 8


@dataclass(frozen=True)
class Question:
    """A question, as the agent worded its search."""

    words: str
    conversation_id: UUID
    at: datetime


def unanswered_questions(project: Project, period: Period) -> list[Question]:
    """The newest questions of a period's chats and messages that stayed unanswered, each text once. Call inside the
    tenant's transaction.
    """
    tests = Conversation.objects.filter(metadata__playground=True)
    calls = (
        TurnCall.objects.filter(
            name__in=SEARCHES,
            result__startswith=NOTHING_FOUND,
            pk__gte=uuid7_floor(period.since),
            created_at__lt=period.until,
            step__turn__conversation__project=project,
        )
        .exclude(step__turn__conversation_id__in=tests.values("pk"))
        .order_by("-id")
    )
    found: dict[str, Question] = {}
    rows = calls.values_list("arguments__query", "step__turn__conversation_id", "created_at")
    for words, conversation_id, at in rows[: 4 * SHOWN]:
        if words:
            found.setdefault(str(words).casefold(), Question(str(words), conversation_id, at))
    return list(found.values())[:SHOWN]
