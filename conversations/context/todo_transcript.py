"""The transcript handed to a todo's executor."""

from __future__ import annotations

from uuid import UUID

from conversations.context.transcript import as_line, read_unsummarized
from conversations.models import Summary
from tenancy.prepared_queries import PreparedQuery
from todos.hooks import Transcript
from tools.engine.skills.detect import TranscriptLine

SUMMARY = PreparedQuery(
    lambda conversation: Summary.objects.filter(conversation_id=conversation).order_by("-until_seq")[:1], kinds=(UUID,)
)


def read_todo_transcript(conversation_id: UUID) -> Transcript:
    """The summary and the messages since. The oldest messages are dropped if they don't fit. Runs in the tenant's
    transaction.
    """
    messages = read_unsummarized(conversation_id)
    return Transcript(
        summary="".join(summary.as_text for summary in SUMMARY(conversation_id)),
        messages=[TranscriptLine(role=line.role, content=line.content) for line in map(as_line, messages)],
    )
