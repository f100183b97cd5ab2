"""Checks for a live voice session."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.common.channels import traits_of
from conversations.models import Conversation, VoiceSession

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
    return _live_sessions(conversation_id).filter(speaking_since__gt=Now() - MAX_SPEECH).exists()


def _live_sessions(conversation_id: UUID) -> QuerySet[VoiceSession]:
    return VoiceSession.objects.filter(
        conversation_id=conversation_id, ended_at=None, heard_at__gt=Now() - SESSION_TIMEOUT
    )
