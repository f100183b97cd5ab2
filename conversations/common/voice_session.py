"""Whether a voice holds a conversation at this moment."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.common.channels import traits_of
from conversations.models import Conversation, VoiceSession

# A voice that reports nothing for so long is gone, and the agent speaks for itself again.
LIVE_FOR = timedelta(minutes=10)
# Nobody speaks for longer without a breath: that they ended was not reported.
LONGEST_SPEECH = timedelta(minutes=2)


def can_have_a_voice(conversation: Conversation) -> bool:
    """Whether it is a call."""
    return traits_of(conversation.channel).is_voice


def is_held_by_a_voice(conversation: Conversation) -> bool:
    """Whether what the agent says is said by a voice that runs elsewhere. Costs nothing on a channel that is written."""
    return can_have_a_voice(conversation) and _live(conversation.pk).exists()


def is_caller_speaking(conversation_id: UUID) -> bool:
    """Whether the caller speaks now, as far as it was reported."""
    return _live(conversation_id).filter(speaking_since__gt=Now() - LONGEST_SPEECH).exists()


def _live(conversation_id: UUID) -> QuerySet[VoiceSession]:
    return VoiceSession.objects.filter(conversation_id=conversation_id, ended_at=None, heard_at__gt=Now() - LIVE_FOR)
