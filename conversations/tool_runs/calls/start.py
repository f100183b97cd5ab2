"""Stores a step and starts its calls in one commit: nothing is sent before the effect is `sending`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall, TurnStep
from conversations.models.event import EventType
from conversations.tool_runs.calls.results import end_call, end_with_effect
from conversations.tool_runs.effects.approval import ask_for_approval, find_awaiting_approval, hold_repeat
from conversations.tool_runs.effects.effect_context import has_customer_written_between
from conversations.tool_runs.effects.outcome_events import announce_held
from tenancy.write_batch import WriteBatch
from tools.engine import ledger
from tools.engine.definition import RetryPolicy
from tools.engine.execution.deduplication import find_recent_duplicate
from tools.engine.execution.limits import lock_recipients, why_over_limit
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import WORKER_DIED
from tools.engine.function_calling.redaction import redacted_arguments
from tools.engine.function_calling.results import result_of
from tools.models import Effect, EffectState

APPROVAL = "A colleague has to approve this first and has been asked. Tell the customer so, and never that it was done."

ALLOWED = "This is allowed by the business and being done now. Say so, and never that it was done already."


def store_step(log: ConversationLog, step: TurnStep, calls: list[TurnCall]) -> None:
    """Store a step with its calls and planned effects; the model is never asked for them again."""
    writes = WriteBatch()
    writes.insert([step])
    writes.insert([call.effect for call in calls if call.effect is not None])
    writes.insert(calls)
    writes.send()
    for call in calls:
        payload = {
            "turn": str(step.turn_id),
            "call": str(call.pk),
            "tool": call.name,
            "arguments": redacted_arguments(call.name, call.arguments),
            "hop": step.number,
        }
        log.add_event(call.name or "tool_call", payload=payload, type=EventType.TOOL_CALL)


class CallStart(Enum):
    """State of a call after it was started: ready to run, a possible repeat, or finished."""

    READY = "ready"
    REPEAT = "repeat"
    FINISHED = "finished"


@dataclass
class StartedCalls:
    """Calls ready to run, and repeats that run only if the customer asked for them again."""

    ready: list[TurnCall] = field(default_factory=list)
    repeats: list[TurnCall] = field(default_factory=list)


def start_calls(log: ConversationLog, calls: Sequence[TurnCall], *, asked_again: bool | None = None) -> StartedCalls:
    """Start the calls, or finish those that must not run. A call without an effect always runs.

    The conversation's lock makes each of two identical calls see the other. `asked_again` is the model's answer about a
    repeat, None before it was asked.
    """
    lock_recipients(call.effect for call in calls if call.effect is not None)
    started = StartedCalls()
    for call in calls:
        match _start(log, call, asked_again):
            case CallStart.READY:
                started.ready.append(call)
            case CallStart.REPEAT:
                started.repeats.append(call)
    return started


def _start(log: ConversationLog, call: TurnCall, asked_again: bool | None) -> CallStart:
    effect = call.effect
    if call.finished_at is not None:
        return CallStart.FINISHED
    if effect is None:
        return CallStart.READY
    if effect.state == EffectState.SENDING and effect.delivery == RetryPolicy.ONCE:
        end_with_effect(log, call, Outcome.unknown(WORKER_DIED))
        return CallStart.FINISHED
    if effect.state not in ledger.OPEN:
        end_call(log, call, result_of(effect), is_error=effect.state != EffectState.DONE)
        return CallStart.FINISHED
    if effect.state == EffectState.PLANNED and (stopped := _hold_back(log, call, effect, asked_again)) is not None:
        return stopped
    return CallStart.READY if ledger.begin_sending(effect) else CallStart.FINISHED


def _hold_back(log: ConversationLog, call: TurnCall, effect: Effect, asked_again: bool | None) -> CallStart | None:
    """Hold a repeat, fail a call over its limit, or ask for approval. Return None if nothing stops the call."""
    earlier = None if asked_again else find_recent_duplicate(effect) or find_awaiting_approval(effect)
    if earlier is not None and asked_again is None and has_customer_written_between(effect, earlier):
        return CallStart.REPEAT
    if earlier is not None and hold_repeat(effect, earlier):
        announce_held(log, effect)
        end_call(log, call, result_of(effect), is_error=False)
    elif too_much := why_over_limit(effect):
        end_with_effect(log, call, Outcome.failed(too_much))
    elif ledger.needs_approval(effect):
        end_call(log, call, APPROVAL if ask_for_approval(log, effect) else ALLOWED, is_error=False)
    else:
        return None
    return CallStart.FINISHED
