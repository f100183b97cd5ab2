"""What a newer message does to a reply that is being written."""

from __future__ import annotations

from typing import cast

from conversations.channels import traits_of
from conversations.log import ConversationLog
from conversations.models import Turn, TurnStatus
from projects.agent import NewerMessage
from projects.api.problem import Conflict
from projects.models import Project

UNSENT = (TurnStatus.QUEUED, TurnStatus.REPLYING)


class ReplyInProgress(Conflict):
    """The reply to the last message is still being written; post this one again when it has come."""

    def __init__(self) -> None:
        super().__init__(code="reply_in_progress")


def policy_for(log: ConversationLog) -> NewerMessage:
    """The project's policy, else the channel's. Reads one word of the settings, not the whole document."""
    chosen = Project.objects.filter(pk=log.conversation.project_id).values_list(
        "agent_version__document__newer_message", flat=True
    )
    return cast(NewerMessage | None, chosen.first()) or traits_of(log.conversation.channel).newer_message


def refuse_while_answering(log: ConversationLog) -> None:
    """Raise ReplyInProgress while a customer's message waits for its reply; what the agent says by itself gives way."""
    if Turn.objects.filter(conversation=log.conversation, status__in=UNSENT, message__isnull=False).exists():
        raise ReplyInProgress
