"""A turn with all its related objects, as shown by the API and the inspector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conversations.common.payloads import (
    ObservedPayload,
    QualityPayload,
    TurnEffectPayload,
    TurnPayload,
    TurnPromisePayload,
    TurnStepPayload,
    TurnSummaryPayload,
)
from conversations.common.presenters import directives_payload, message_payload, wait_payload
from conversations.common.promise_todos import find_todos
from conversations.models import Analysis, ArchivedTranscript, PersonaField, Turn, TurnStep, Wait
from conversations.models.directives import Directives
from jobs.models import Job, ModelCall
from jobs.presenters import call_payload, job_payload
from projects.common.presenters import stamp
from todos.models import Todo
from tools.engine.function_calling.redaction import redacted_arguments
from tools.engine.next_attempts import next_attempts
from tools.engine.presenters import effect_payload, promise_payload, verdict_payload
from tools.models import Effect, Promise, Verdict
from tools.services.calendar.event_sync import LANE as CALENDAR


def turn_summary(turn: Turn, *, archive: ArchivedTranscript | None = None) -> TurnSummaryPayload:
    """The turn without its related objects. Needs `reply` selected, and the conversation's archive if it has one."""
    if archive is not None:
        archive.complete(turn)
    return {
        "id": str(turn.pk),
        "seq": turn.seq,
        "conversation": str(turn.conversation_id),
        "origin": turn.origin,
        "status": turn.status,
        "superseded_by": str(turn.superseded_by_id) if turn.superseded_by_id else None,
        "message": str(turn.message_id) if turn.message_id else None,
        "reply": message_payload(turn.reply) if turn.reply else None,
        "partial": turn.partial or None,
        "freshness": turn.freshness,
        "working_hours": turn.working_hours,
        "quality": _quality(turn),
        "refused": turn.refused,
        "tools_called": turn.tools_called,
        "error": turn.error or None,
        "created_at": stamp(turn.created_at),
        "started_at": stamp(turn.started_at),
        "first_token_at": stamp(turn.first_token_at),
        "replied_at": stamp(turn.replied_at),
        "finished_at": stamp(turn.finished_at),
    }


def turn_payload(turn: Turn, *, archive: ArchivedTranscript | None = None) -> TurnPayload:
    """The turn with all its related objects, in a fixed number of queries."""
    effects = list(Effect.objects.filter(turn_id=turn.pk))
    written = Directives.objects.filter(turn=turn).first()
    return {
        **turn_summary(turn, archive=archive),
        "steps": [step_payload(step) for step in _steps_of(turn)],
        "jobs": [job_payload(job) for job in jobs_of(turn, effects)],
        "verdicts": [verdict_payload(verdict) for verdict in Verdict.objects.filter(turn_id=turn.pk)],
        "effects": _effects(effects),
        "directives_used": directives_payload(turn.directives_used) if turn.directives_used else None,
        "directives_written": directives_payload(written) if written else None,
        "promises": _promises(turn),
        "waits": [wait_payload(wait) for wait in Wait.objects.filter(turn=turn).order_by("opened_at")],
        "analysis": _analysis(turn, archive),
        "observed": [_observed(field) for field in PersonaField.objects.filter(turn_id=turn.pk)],
        "model_calls": [call_payload(call) for call in ModelCall.objects.filter(turn_id=turn.pk).defer("messages")],
    }


def _analysis(turn: Turn, archive: ArchivedTranscript | None) -> Any:
    stored = archive.rows_of(Analysis) if archive is not None else Analysis.objects.filter(turn=turn)
    return next((one.steps for one in stored if one.turn_id == turn.pk), None)


def _effects(effects: Sequence[Effect]) -> list[TurnEffectPayload]:
    due = next_attempts(effects, lanes=[CALENDAR])
    return [{**effect_payload(one), "next_attempt_at": stamp(due.get(one.pk))} for one in effects]


def _promises(turn: Turn) -> list[TurnPromisePayload]:
    promises = list(Promise.objects.filter(turn_id=turn.pk))
    todos = find_todos(promises)
    return [_promise(one, todos.get(one.pk)) for one in promises]


def _promise(promise: Promise, todo: Todo | None) -> TurnPromisePayload:
    todo_id, taker = (str(todo.pk), todo.taker or None) if todo else (None, None)
    return {**promise_payload(promise), "todo": todo_id, "taker": taker}


def step_payload(step: TurnStep) -> TurnStepPayload:
    """One step: the model's text beside its tool calls, and each call with its result."""
    return {
        "number": step.number,
        "content": step.content or None,
        "created_at": stamp(step.created_at),
        "calls": [
            {
                "id": str(call.pk),
                "tool": call.name,
                "arguments": redacted_arguments(call.name, call.arguments),
                "arguments_text": call.arguments_text if call.arguments is None else None,
                "result": call.result or None,
                "is_error": call.is_error,
                "effect": str(call.effect_id) if call.effect_id else None,
                "block": call.block,
                "signal": call.signal or None,
                "created_at": stamp(call.created_at),
                "finished_at": stamp(call.finished_at),
            }
            for call in step.calls.all()
        ],
    }


def _steps_of(turn: Turn) -> Iterable[TurnStep]:
    return TurnStep.objects.filter(turn=turn).prefetch_related("calls").order_by("number")


def jobs_of(turn: Turn, effects: Iterable[Effect]) -> list[Job]:
    """The jobs of the turn's reply, its flows and its effects, oldest first."""
    subjects = [turn.conversation_id, *(effect.pk for effect in effects)]
    jobs = Job.objects.filter(subject_id__in=subjects, ordinal__in=(turn.seq, 0)).order_by("created_at", "id")
    return [job for job in jobs if job.subject_id != turn.conversation_id or job.ordinal == turn.seq]


def _quality(turn: Turn) -> QualityPayload | None:
    if turn.quality_score is None:
        return None
    return {"score": turn.quality_score, "reason": turn.quality_reason}


def _observed(field: PersonaField) -> ObservedPayload:
    return {"field": field.key, "value": field.value, "quote": field.quote}
