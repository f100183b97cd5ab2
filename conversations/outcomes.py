"""What a tool's signal does to its conversation: it ends, or a person takes over (F18, N31)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from conversations.log import ConversationLog
from conversations.models import ConversationStatus
from tools.execution.outcome import Signal


def obey_signal(log: ConversationLog, signal: Signal, *, turn_id: UUID | None, result: Mapping[str, Any]) -> bool:
    """Do what an effect's outcome signals, in the transaction of its end. `turn_id` is the turn that promised it."""
    raise NotImplementedError


def speaks_by_itself(log: ConversationLog) -> bool:
    """Whether the agent may still start to speak in this conversation: not after its end or a transfer (F18)."""
    return log.conversation.status == ConversationStatus.OPEN


def reopen(log: ConversationLog) -> None:
    """A customer's new message goes on with a conversation that had ended, where the channel can."""
    raise NotImplementedError
