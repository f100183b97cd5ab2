"""Checks for a live voice session."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.common.channels import traits_of
from conversations.models import Conversation, VoiceSession
from tenancy.prepared_queries import PreparedValues

# After this long without a report the voice is considered gone, and the agent speaks for itself again.
SESSION_TIMEOUT = timedelta(minutes=10)
# Longer speech means that its end was not reported.
MAX_SPEECH = timedelta(minutes=2)


def is_voice_call(conversation: Conversation) -> bool:
    """Return True if the conversation is a call."""
    return traits_of(conversation.channel).is_voice


def has_live_voice(conversation: Conversation) -> bool:
    """Return True if a live voice session speaks for the agent. Runs no query on text channels."""
    return is_voice_call(conversation) and _live_sessions(conversation.pk).exists()


def is_caller_speaking(conversation_id: UUID) -> bool:
    """Return True if the caller is speaking, according to the latest reports."""
    return any(
        now - heard_at < SESSION_TIMEOUT and now - speaking_since < MAX_SPEECH
        for heard_at, speaking_since, now in SPEAKING(conversation_id)
    )


def _live_sessions(conversation_id: UUID) -> QuerySet[VoiceSession]:
    return VoiceSession.objects.filter(
        conversation_id=conversation_id, ended_at=None, heard_at__gt=Now() - SESSION_TIMEOUT
    )


SPEAKING = PreparedValues(
    lambda conversation: (
        VoiceSession.objects.filter(conversation_id=conversation, ended_at=None, speaking_since__isnull=False)
        .annotate(now=Now())
        .values_list("heard_at", "speaking_since", "now")
    ),
    kinds=(UUID,),
)
