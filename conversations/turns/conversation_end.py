"""When a conversation is over, and what is left to be done is looked for (D16).

It is over when a tool ends it or a person takes over, and when nothing has been said for an hour after the last follow-up.
`Conversation.extracted_to` is the last message that was looked at, so each message is looked at once, and one more makes
the conversation go on.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now

from conversations.live.event_log import ConversationLog, lock_conversation
from conversations.models import Conversation
from jobs.enqueue import JobRequest, enqueue
from jobs.sweep import sweep_tenants
from todos.sources.extraction import extracted_types

EXTRACTION = "extraction"
# As `_SILENT` says it too.
OVER_AFTER = timedelta(hours=1)
# What nobody looked at for so long, because nothing swept, is history.
MAX_LATE = timedelta(days=1)

_SILENT = """
select organization_id, id from conversations_conversation
where extracted_to < last_message and follow_up_at is null and updated_at <= clock_timestamp() - interval '1 hour'
order by updated_at limit 100
"""


def queue_extraction(log: ConversationLog) -> None:
    """The conversation ends in this transaction: look for what is left to be done. Without types for it nothing is asked."""
    conversation = log.conversation
    if conversation.extracted_to < conversation.last_message:
        conversation.extracted_to = conversation.last_message
        _enqueue(conversation, until=conversation.last_message)


def queue_decision(log: ConversationLog, *, turn_id: UUID) -> None:
    """Promises of this turn need a type while the conversation goes on; nothing else is looked for."""
    if extracted_types(log.conversation.project_id).exists():
        enqueue([_job(log.conversation, key=f"{EXTRACTION}:turn:{turn_id}")])


def is_of_the_end(key: str) -> bool:
    """Whether a job looks for everything, and not for the types of a turn's promises alone."""
    return not key.startswith(f"{EXTRACTION}:turn:")


def close_silent_conversations() -> None:
    """Look through what fell silent, in all tenants: the sweep's hook. Several at once do it once."""
    sweep_tenants(_SILENT, _close, failed="A silent conversation could not be looked through")


def _close(conversation_id: UUID) -> None:
    lock_conversation(conversation_id)
    silent = Conversation.objects.filter(
        pk=conversation_id,
        extracted_to__lt=F("last_message"),
        follow_up_at=None,
        updated_at__lte=Now() - OVER_AFTER,
    )
    found = silent.annotate(is_history=Now() - F("updated_at")).first()
    if found is None:
        return
    # Not saved as a whole: that it was looked at doesn't make it recent.
    silent.update(extracted_to=found.last_message)
    if vars(found)["is_history"] < MAX_LATE:
        _enqueue(found, until=found.last_message)


def _enqueue(conversation: Conversation, *, until: int) -> None:
    if extracted_types(conversation.project_id).exists():
        enqueue([_job(conversation, key=f"{EXTRACTION}:{conversation.pk}:{until}")])


def _job(conversation: Conversation, *, key: str) -> JobRequest:
    return JobRequest(
        lane=EXTRACTION, project_id=conversation.project_id, subject_id=conversation.pk, ordinal=0, key=key
    )
