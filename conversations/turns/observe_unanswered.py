"""What customers say while a colleague has the conversation: no turn answers it, and the observer reads it all the same (M9)."""

from __future__ import annotations

from uuid import UUID

from conversations.live.event_log import ConversationLog
from conversations.models import Message
from jobs.enqueue import JobRequest, enqueue

LANE = "observer"
KEY = f"{LANE}:message:"


def watch(log: ConversationLog, message: Message) -> None:
    """Have a customer's message read that no turn answers, for what it says of them."""
    enqueue(
        [
            JobRequest(
                lane=LANE,
                project_id=log.conversation.project_id,
                subject_id=log.conversation.pk,
                # Before any turn's: it is no turn's job.
                ordinal=0,
                key=f"{KEY}{message.pk}",
            )
        ]
    )


def watched_message(key: str) -> UUID | None:
    """The message that a job of the observer's is about; None for a turn's."""
    return UUID(key.removeprefix(KEY)) if key.startswith(KEY) else None
