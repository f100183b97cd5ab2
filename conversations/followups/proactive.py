"""Urgent messages: what the agent is told at once, and tells the customer by itself (N46, T24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.common.voice_session import has_live_voice
from conversations.live.event_log import ConversationLog
from conversations.models import ConversationStatus, Origin, Turn, TurnStatus
from conversations.models.event import URGENT
from conversations.turns.services import has_talked_enough, policy_for, queue_reply


def say_proactively(log: ConversationLog, text: str, details: Mapping[str, Any]) -> Turn | None:
    """Tell the agent something at once; it speaks by itself, in one reply for all that came before it began.

    Returns the turn that tells it, or None when nothing more fires by itself: the conversation is over, or the agent has
    spoken three times without an answer. It is told with the next reply then. The payload's `told_by` is that turn's `seq`.
    While a colleague has the conversation it is shown to them instead, and told by no reply. Where a voice holds it the voice's
    model is told, between two sentences of the caller's (conversations.voice.updates), and what it says then is the next turn.
    """
    if log.conversation.operator_id is not None:
        log.add_event(URGENT, payload={**details, "text": text, "told_by": 0})
        return None
    teller = _teller(log)
    told_by = teller.seq if teller else log.conversation.last_turn + 1
    log.add_event(URGENT, payload={**details, "text": text, "told_by": told_by})
    return teller


def _teller(log: ConversationLog) -> Turn | None:
    if log.conversation.status != ConversationStatus.OPEN or has_live_voice(log.conversation):
        return None
    if (unbegun := _unbegun(log)) is not None:
        return unbegun
    if has_talked_enough(log.conversation):
        return None
    turn = log.add_turn(Origin.URGENT)
    # The next urgent message of this transaction finds it.
    log.writes.send()
    # Only a newer message of the customer's takes the place of a reply where the policy is to let it finish.
    queue_reply(log, turn, policy="interrupt" if policy_for(log) == "interrupt" else "queue")
    return turn


def _unbegun(log: ConversationLog) -> Turn | None:
    """The newest turn, if its reply hasn't begun. Its row is locked: a reply that begins meanwhile reads what we write."""
    if log.new_turn is not None:
        return log.new_turn
    newest = Turn.objects.select_for_update(of=("self",)).filter(
        conversation=log.conversation, seq=log.conversation.last_turn, status=TurnStatus.QUEUED
    )
    return newest.first()
