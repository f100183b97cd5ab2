"""Turns spoken by a voice model. They are processed by the same flows as written ones."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet, Subquery
from django.db.models.functions import Coalesce

from conversations.common.business_hours import working_status
from conversations.common.queries import read_project
from conversations.context.transcript import read_unsummarized
from conversations.followups.waits import is_waiting
from conversations.live.event_log import ConversationLog
from conversations.models import (
    Conversation,
    Event,
    Freshness,
    Message,
    MessageRole,
    Origin,
    Turn,
    TurnStatus,
    VoiceSession,
)
from conversations.promises.apply_verdicts import UNBACKED
from conversations.turns.after_reply import add_reply_events, queue_analysis
from conversations.voice.spoken_calls import attach_calls
from projects.models import AgentVersion
from tenancy.prepared_queries import PreparedQuery

REPLY_FIELDS = (
    "message",
    "reply",
    "status",
    "working_hours",
    "directives_used",
    "freshness",
    "tools_called",
    "replied_at",
    "finished_at",
)


def _last_answer(conversation: UUID) -> QuerySet[Message, Any]:
    answers = Message.objects.filter(conversation_id=conversation).exclude(
        role__in=(MessageRole.USER, MessageRole.SYSTEM)
    )
    return answers.order_by("-seq").values("seq")[:1]


UNANSWERED = PreparedQuery(
    lambda conversation: Message.objects.filter(
        conversation_id=conversation, role=MessageRole.USER, seq__gt=Coalesce(Subquery(_last_answer(conversation)), 0)
    ).order_by("seq"),
    kinds=(UUID,),
)


def add_spoken_turn(log: ConversationLog, session: VoiceSession, text: str) -> Turn:
    """Add the turn of the voice model's words, with the caller's messages they answer, and queue its flows."""
    conversation = log.conversation
    # Sent before the turn is added: its freshness is measured against the state it was spoken in.
    log.writes.send()
    answered_messages, freshness = unanswered(conversation), _freshness(conversation, session)
    turn = log.add_turn(Origin.MESSAGE if answered_messages else Origin.URGENT)
    log.writes.send()
    for message in answered_messages:
        if message.turn_id is None:
            log.writes.change(Message, message.pk, turn=turn.pk)
    turn.message = answered_messages[-1] if answered_messages else None
    turn.reply = log.add_message(MessageRole.AGENT, text, turn=turn, idn="agent_message")
    turn.status, turn.replied_at, turn.finished_at = TurnStatus.DONE, log.now, log.now
    turn.directives_used, turn.freshness = session.given_directives, freshness
    turn.working_hours = _working_hours(log)
    turn.tools_called = attach_calls(log, turn)
    log.writes.update(turn, REPLY_FIELDS)
    add_reply_events(log, turn)
    queue_analysis(log, turn, unsummarized=read_unsummarized(conversation.pk))
    _clear_correction(conversation, session)
    return turn


def unanswered(conversation: Conversation) -> list[Message]:
    """The caller's messages since the last answer, oldest first."""
    return UNANSWERED(conversation.pk)


def _freshness(conversation: Conversation, session: VoiceSession) -> Freshness:
    """Freshness as for a written reply, measured by the directives the voice model was given."""
    if is_waiting(conversation.pk):
        return Freshness.WAITING
    if session.given_directives_id is None:
        return Freshness.NONE
    is_newest = session.given_directives_id == conversation.directives_id
    return Freshness.FRESH if is_newest and conversation.directives_turn >= conversation.last_turn else Freshness.STALE


def _working_hours(log: ConversationLog) -> dict[str, str | bool]:
    project = read_project(log.conversation.project_id)
    return working_status(cast(AgentVersion, project.agent_version).config, at=log.now).document


def _clear_correction(conversation: Conversation, session: VoiceSession) -> None:
    """Clear the correction if the voice model was told every claim in it before it spoke."""
    if not conversation.correction:
        return
    claims = Event.objects.filter(conversation=conversation, idn=UNBACKED, seq__gt=session.applied)
    if not claims.exists():
        conversation.correction = ""
