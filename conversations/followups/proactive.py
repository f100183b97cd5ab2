"""Proactive messages: the agent is told something urgent, and tells the customer on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.common.voice_session import has_live_voice
from conversations.live.event_log import ConversationLog
from conversations.models import ConversationStatus, Origin, Turn, TurnStatus
from conversations.models.event import URGENT, UrgentSource
from conversations.turns.services import has_talked_enough, policy_for, queue_reply


def say_proactively(
    log: ConversationLog,
    text: str,
    details: Mapping[str, Any],
    *,
    source: UrgentSource = UrgentSource.TOOL,
    instruction: str = "",
) -> Turn | None:
    """Record an urgent message for the agent and queue a turn that tells it; one reply covers all that precede it.

    `source` says if the text may instruct the agent. `instruction` is for the agent alone, while `text` may be shown to
    people. Returns that turn, whose `seq` is the payload's `told_by`. Returns
    None if the agent does not speak on its own: the conversation is closed, or it has spoken three times without an
    answer. The next reply tells it then. While an operator has the conversation, the message is only shown to them
    (`told_by` is 0). While a voice session holds it, the voice model receives it as an update
    (conversations.voice.updates), and its next words become the next turn.
    """
    # A payload from outside brings no instruction of its own.
    said = {**details, "text": text, "source": source, "instruction": instruction}
    if not instruction:
        del said["instruction"]
    if log.conversation.operator_id is not None:
        log.add_event(URGENT, payload={**said, "told_by": 0})
        return None
    teller = _telling_turn(log)
    told_by = teller.seq if teller else log.conversation.last_turn + 1
    log.add_event(URGENT, payload={**said, "told_by": told_by})
    return teller


def _telling_turn(log: ConversationLog) -> Turn | None:
    if log.conversation.status != ConversationStatus.OPEN or has_live_voice(log.conversation):
        return None
    if (unbegun := _queued_turn(log)) is not None:
        return unbegun
    if has_talked_enough(log.conversation):
        return None
    turn = log.add_turn(Origin.URGENT)
    # Later urgent messages in this transaction must find this turn.
    log.writes.send()
    # Under the "queue" policy only a newer customer message may replace a reply.
    queue_reply(log, turn, policy="interrupt" if policy_for(log) == "interrupt" else "queue")
    return turn


def _queued_turn(log: ConversationLog) -> Turn | None:
    """The newest turn, if its reply has not begun. Its row is locked, so a reply that begins now reads our message."""
    if log.new_turn is not None:
        return log.new_turn
    newest = Turn.objects.select_for_update(of=("self",)).filter(
        conversation=log.conversation, seq=log.conversation.last_turn, status=TurnStatus.QUEUED
    )
    return newest.first()
