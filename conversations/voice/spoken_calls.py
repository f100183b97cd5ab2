"""Tool calls of a live session as steps of its turns, where the transcript, the API and the inspector show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left

from conversations.live.event_log import ConversationLog
from conversations.models import Event, Turn, TurnCall, TurnStep
from conversations.voice.deduplication import ANSWERED, CALLED
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from tools.models import Effect

LONGEST_CALL_ID, LONGEST_NAME = 120, 120


def _attached(conversation: UUID) -> QuerySet[TurnCall]:
    """The steps of the conversation's turns that are the outer query's call."""
    call = Left(KeyTextTransform("call", OuterRef("payload")), LONGEST_CALL_ID)
    return TurnCall.objects.filter(step__turn__conversation_id=conversation, call_id=call)


UNATTACHED = PreparedQuery(
    lambda conversation: (
        Event.objects.filter(conversation_id=conversation, idn=CALLED)
        .exclude(Exists(_attached(conversation)))
        .order_by("seq")
    ),
    kinds=(UUID,),
)


UNFINISHED = PreparedValues(
    lambda conversation, call: (
        TurnCall.objects.filter(step__turn__conversation_id=conversation, call_id=call, finished_at=None)
        .order_by()
        .values_list("pk")
    ),
    kinds=(UUID, str),
)


def attach_calls(log: ConversationLog, turn: Turn) -> bool:
    """Make the calls that belong to no turn yet a step of this one. True if there are any.

    A model calls a tool before it speaks about the result, so a call belongs to the turn of the words that follow it,
    and a call without such words to the last turn.
    """
    called = _unattached(log)
    if not called:
        return False
    ids = [event.payload["call"] for event in called]
    answers = {
        event.payload["call"]: event
        for event in Event.objects.filter(conversation=log.conversation, idn=ANSWERED, payload__call__in=ids)
    }
    taken = TurnStep.objects.filter(turn=turn).aggregate(last=Max("number"))["last"] or 0
    step = TurnStep(turn=turn, number=taken + 1)
    calls = [_call(step, index, event, answers.get(event.payload["call"])) for index, event in enumerate(called)]
    log.writes.insert([step])
    log.writes.insert(calls)
    log.writes.send()
    effects = [call.effect_id for call in calls if call.effect_id]
    Effect.objects.filter(pk__in=effects, turn_id=None).update(turn_id=turn.pk)
    return True


def attach_last_calls(log: ConversationLog) -> None:
    """Add the calls after the voice's last words to its last turn."""
    last = Turn.objects.filter(conversation=log.conversation).order_by("-seq").first()
    if last is not None and attach_calls(log, last):
        log.writes.change(Turn, last.pk, tools_called=True)


def store_late_answer(log: ConversationLog, payload: Mapping[str, Any]) -> None:
    """Store the result of a call whose turn was reported before it."""
    for (waiting,) in UNFINISHED(log.conversation.pk, payload["call"][:LONGEST_CALL_ID]):
        log.writes.change(
            TurnCall,
            waiting,
            result=payload["result"],
            is_error=payload["is_error"],
            block=payload["block"],
            signal=payload["signal"],
            finished_at=log.now,
        )


def _unattached(log: ConversationLog) -> Sequence[Event]:
    return list({event.payload["call"]: event for event in UNATTACHED(log.conversation.pk)}.values())


def _call(step: TurnStep, index: int, called: Event, answered: Event | None) -> TurnCall:
    request, result = called.payload, answered.payload if answered else {}
    return TurnCall(
        step=step,
        index=index,
        call_id=request["call"][:LONGEST_CALL_ID],
        name=request["tool"][:LONGEST_NAME],
        arguments=request["arguments"],
        arguments_text=request.get("arguments_text", ""),
        effect_id=request.get("effect"),
        result=result.get("result", ""),
        is_error=result.get("is_error", False),
        block=result.get("block"),
        signal=result.get("signal", ""),
        finished_at=answered.created_at if answered else None,
    )
