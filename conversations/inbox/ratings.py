"""Ratings of conversations by their customers: one to five stars and a comment."""

from __future__ import annotations

from uuid import UUID

from conversations.common.customer_names import conversation_names
from conversations.live.event_log import open_log
from conversations.models import Conversation, Message, MessageRole
from jobs.errors import WrongState
from notices.models import NoticeKind
from notices.services import notify, settle

RATED = "conversation_rated"
LOWEST, HIGHEST = 1, 5
# Up to this score a rating is bad.
BAD = 2
LONGEST_COMMENT = 1_000
NOTHING_TO_RATE = "There is no answer to rate yet."


def rate(conversation_id: UUID, *, score: int, comment: str) -> Conversation:
    """Store the customer's rating, which replaces an earlier one, and notify operators of a bad one. It doesn't count as
    activity.

    Raises WrongState before the first answer, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        row = log.conversation
        if not Message.objects.filter(conversation=row, role__in=(MessageRole.AGENT, MessageRole.OPERATOR)).exists():
            raise WrongState(NOTHING_TO_RATE)
        if (row.rating, row.rating_comment, row.rated_to) == (score, comment, row.last_message):
            return row
        row.rating, row.rating_comment = score, comment
        row.rated_at, row.rated_to = log.now, row.last_message
        Conversation.objects.filter(pk=row.pk).update(
            rating=score, rating_comment=comment, rated_at=log.now, rated_to=row.last_message
        )
        log.add_event(RATED, payload={"score": score})
        _notify(row, score, comment)
        return row


def _notify(row: Conversation, score: int, comment: str) -> None:
    """Notify operators of a bad rating, unless the conversation is a test. A better one in its place needs nobody."""
    if score > BAD:
        settle(NoticeKind.RATED_BADLY, row.pk)
    elif not row.is_test:
        name, quote = conversation_names([row]).get(row.pk, ""), f"“{comment}”" if comment else ""
        text = " ".join(part for part in (name, f"{score}/{HIGHEST}", quote) if part)
        notify(row.project_id, kind=NoticeKind.RATED_BADLY, subject=row.pk, object_id=row.pk, text=text)
