"""What a newer message does to a reply that is being written."""

from __future__ import annotations

from functools import lru_cache
from typing import cast
from uuid import UUID

from conversations.common.channels import traits_of
from conversations.live.event_log import ConversationLog
from conversations.models import Turn, TurnStatus
from projects.common.api_error import Conflict
from projects.models import AgentVersion
from projects.models.agent_config import NewerMessage

UNSENT = (TurnStatus.QUEUED, TurnStatus.REPLYING)


class ReplyInProgress(Conflict):
    """The reply to the last message is still being written; post this one again when it has come."""

    def __init__(self) -> None:
        super().__init__(code="reply_in_progress")


def policy_for(log: ConversationLog) -> NewerMessage:
    """The project's policy, else the channel's."""
    version_id = log.conversation.project.agent_version_id
    return (_policy_of(version_id) if version_id else None) or traits_of(log.conversation.channel).newer_message


@lru_cache(maxsize=4096)
def _policy_of(version_id: UUID) -> NewerMessage | None:
    """One word of a version of the settings, remembered: a version never changes."""
    words = AgentVersion.objects.filter(pk=version_id).values_list("document__newer_message", flat=True)
    return cast(NewerMessage | None, words.first())


def refuse_while_answering(log: ConversationLog) -> None:
    """Raise ReplyInProgress while a customer's message waits for its reply; what the agent says by itself gives way."""
    if Turn.objects.filter(conversation=log.conversation, status__in=UNSENT, message__isnull=False).exists():
        raise ReplyInProgress
