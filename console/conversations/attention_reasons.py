"""Why a conversation needs a person: whoever waits for one first, then what is to be answered, looked at or made good."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from conversations.models import Conversation
from projects.models import Project
from todos.attention import failed_todos, waiting_todos
from tools.engine.attention import recently_broken_promises, unknown_effects
from tools.services.support.escalations import waiting_requests

# A list of what waits shows no more than that, the most pressing first.
MOST = 100


@dataclass(frozen=True)
class Reason:
    """One reason, as a state: a word, its tone and its icon."""

    words: str
    tone: str
    icon: str


ASKED = Reason("Asked for a person", "bad", "message-user")
UNKNOWN = Reason("Did it happen?", "warn", "help-circle")
TO_REVIEW = Reason("Todo to review", "warn", "checklist")
FAILED = Reason("Todo failed", "bad", "alert-triangle")
BROKEN = Reason("Promise broken", "bad", "circle-x")


def find_waiting(project: Project) -> list[UUID]:
    """The conversations that need a person, at most MOST: who asked for one first, the longest; then the newest."""
    asked = list(waiting_requests(project).values_list("conversation_id", flat=True)[:MOST])
    others = {conversation_id for _, conversation_id in _found(project) if conversation_id} - {*asked}
    flagged = Conversation.objects.filter(project=project).exclude(flag="").order_by("-updated_at")
    others |= {*flagged.values_list("pk", flat=True)[:MOST]} - {*asked}
    recent = Conversation.objects.filter(pk__in=others).order_by("-updated_at").values_list("pk", flat=True)
    return [*asked, *recent][:MOST]


def reasons_of(project: Project, conversations: Collection[UUID]) -> Mapping[UUID, Sequence[Reason]]:
    """The reasons of each conversation; one that has none is left out."""
    reasons: dict[UUID, list[Reason]] = defaultdict(list)
    asked = waiting_requests(project).filter(conversation_id__in=conversations)
    for conversation_id in asked.values_list("conversation_id", flat=True):
        reasons[conversation_id].append(ASKED)
    for reason, found in _found(project, conversations):
        if found and reason not in reasons[found]:
            reasons[found].append(reason)
    return reasons


def _found(project: Project, conversations: Collection[UUID] | None = None) -> Iterator[tuple[Reason, UUID | None]]:
    rows = (
        (UNKNOWN, unknown_effects(project)),
        (TO_REVIEW, waiting_todos(project)),
        (FAILED, failed_todos(project)),
        (BROKEN, recently_broken_promises(project)),
    )
    for reason, waiting in rows:
        narrowed = waiting if conversations is None else waiting.filter(conversation_id__in=conversations)
        for conversation_id in narrowed.values_list("conversation_id", flat=True)[:MOST]:
            yield reason, conversation_id
