"""The end of a conversation, and the search for todos it left open.

A conversation is over when a tool ends it, when a person takes over, or after an hour of silence following the last
follow-up. `Conversation.extracted_to` is the last message that was searched, so each message is searched once; a new
message continues the conversation.
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
# Keep in sync with the interval in `_SILENT`.
OVER_AFTER = timedelta(hours=1)
# After a longer outage of the sweep, conversations are too old to be searched.
MAX_LATE = timedelta(days=1)

_SILENT = """
select organization_id, id from conversations_conversation
where extracted_to < last_message and follow_up_at is null and updated_at <= clock_timestamp() - interval '1 hour'
order by updated_at limit 100
"""


def queue_extraction(log: ConversationLog) -> None:
    """Queue the search for todos as the conversation ends in this transaction. Does nothing if the project has no todo
    types for it.
    """
    conversation = log.conversation
    if conversation.extracted_to < conversation.last_message:
        conversation.extracted_to = conversation.last_message
        _enqueue(conversation, until=conversation.last_message)


def queue_type_choice(log: ConversationLog, *, turn_id: UUID) -> None:
    """Queue the choice of a todo type for the promises of this turn, while the conversation continues. Nothing else is
    searched.
    """
    if extracted_types(log.conversation.project_id).exists():
        enqueue([_job(log.conversation, key=f"{EXTRACTION}:turn:{turn_id}")])


def searches_whole_conversation(key: str) -> bool:
    """Return True if the job searches the whole conversation, rather than choosing types for one turn's promises."""
    return not key.startswith(f"{EXTRACTION}:turn:")


def close_silent_conversations() -> None:
    """Search silent conversations of all tenants for todos. Runs as a sweep hook; concurrent sweeps search each one
    once.
    """
    sweep_tenants(_SILENT, _close, failed="Searching a silent conversation failed")


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
    # Not `save()`: being searched must not change `updated_at`.
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
