"""Tool signals to the channel: end the conversation, or transfer it to a person. The agent is silent afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.common.channels import traits_of
from conversations.live.event_log import ConversationLog
from conversations.models import Conversation, ConversationStatus, Turn, TurnStatus
from conversations.models.event import EventType
from conversations.turns.conversation_end import queue_extraction
from jobs.enqueue import supersede
from projects.common.api_error import Conflict
from tools.engine.execution.outcome import Signal
from tools.engine.ledger import OPEN
from tools.models import Effect

# The kind of a tool that transfers a call.
TRANSFER = "transfer"
ENDED, TRANSFERRED, GOES_ON = "conversation_ended", "conversation_transferred", "conversation_goes_on"


class ConversationOver(Conflict):
    """This conversation is over. Start a new one."""

    def __init__(self) -> None:
        super().__init__(code="conversation_over")


def apply_signal(log: ConversationLog, signal: Signal, *, turn_id: UUID | None, result: Mapping[str, Any]) -> bool:
    """Apply the signal of an effect's outcome, in the transaction that stores it. `turn_id` is the effect's turn.

    The agent then neither replies nor writes by itself. Returns False, and the conversation continues, if the customer
    has written after the goodbye or an operator has the conversation.
    """
    if log.conversation.operator_id is not None:
        log.add_event(GOES_ON, payload={"reason": "An operator has the conversation."})
        return False
    if signal is Signal.END and _has_spoken_since(log, turn_id):
        log.add_event(GOES_ON, payload={"reason": "The customer spoke again after the goodbye."})
        return False
    if signal is Signal.END and _is_being_put_through(turn_id):
        # The same turn also started a transfer, which has yet to finish and will end the call.
        return True
    is_end = signal is Signal.END
    status = ConversationStatus.ENDED if is_end else ConversationStatus.TRANSFERRED
    if log.conversation.status in (status, ConversationStatus.TRANSFERRED):
        # Already applied, as when a tool was both called and promised. A transferred call is never ended.
        return True
    log.conversation.status = status
    log.conversation.follow_up_at = None
    log.add_event(ENDED if is_end else TRANSFERRED, payload=dict(result))
    queue_extraction(log)
    fail_replies(log, reason="The conversation is over.")
    return True


def reopen(log: ConversationLog) -> None:
    """Reopen an ended conversation for a new customer message. Raises ConversationOver for calls and transferred
    conversations.
    """
    if log.conversation.status == ConversationStatus.OPEN:
        return
    if is_closed(log.conversation):
        raise ConversationOver
    log.conversation.status = ConversationStatus.OPEN
    log.add_event("conversation_reopened", payload={})


def is_closed(conversation: Conversation) -> bool:
    """True for a transferred conversation and an ended call, which take no further message."""
    if conversation.status == ConversationStatus.OPEN:
        return False
    return conversation.status == ConversationStatus.TRANSFERRED or traits_of(conversation.channel).is_voice


def _has_spoken_since(log: ConversationLog, turn_id: UUID | None) -> bool:
    if turn_id is None:
        return False
    own = Turn.objects.filter(pk=turn_id).values("seq")
    return Turn.objects.filter(conversation=log.conversation, message__isnull=False, seq__gt=own[:1]).exists()


def _is_being_put_through(turn_id: UUID | None) -> bool:
    transfers = Effect.objects.filter(turn_id=turn_id, kind=TRANSFER, state__in=OPEN)
    return turn_id is not None and transfers.exists()


def fail_replies(log: ConversationLog, *, reason: str) -> None:
    """Supersede all replies that have not been sent, including queued ones. What they still write is refused."""
    conversation = log.conversation
    ended = supersede(
        lane="reply",
        subject_id=conversation.pk,
        before=conversation.last_turn + 1,
        reason=reason,
        spares_patient=False,
    )
    for turn in Turn.objects.filter(conversation=conversation, seq__in=ended.ordinals):
        turn.status, turn.error, turn.finished_at = TurnStatus.SUPERSEDED, reason, timezone.now()
        turn.save(update_fields=["status", "error", "finished_at"])
        log.add_turn_event(turn)
        log.add_event("turn_done", payload={"turn": str(turn.pk), "status": turn.status}, type=EventType.DONE)
