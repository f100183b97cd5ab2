"""Results of tool calls, stored with all their consequences in one transaction."""

from __future__ import annotations

import logging
from dataclasses import replace

from django.db.models.functions import Now

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall
from conversations.models.event import EventType
from conversations.tool_runs.effects.outcome_events import end_effect
from jobs.enqueue import enqueue
from tools.engine import ledger
from tools.engine.definition import RetryPolicy
from tools.engine.execution.after_actions import next_after_action
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.function_calling.results import result_of, result_without_effect
from tools.models import Effect, EffectState

logger = logging.getLogger(__name__)

# Nothing is retried inside a turn: the agent reports a failure at once.
STATES = {
    Ending.DONE: EffectState.DONE,
    Ending.FAILED: EffectState.FAILED,
    Ending.NOT_SENT: EffectState.FAILED,
    Ending.UNKNOWN: EffectState.UNKNOWN,
    Ending.LATER: EffectState.UNKNOWN,
}


def settle_call(log: ConversationLog, call: TurnCall, outcome: Outcome) -> None:
    """Store a call's outcome; a finished call does not change."""
    call.refresh_from_db()
    if call.finished_at is not None:
        return
    if call.effect is not None:
        end_with_effect(log, call, outcome)
        return
    end_call(log, call, result_without_effect(outcome), is_error=outcome.ending is not Ending.DONE, outcome=outcome)


def end_with_effect(log: ConversationLog, call: TurnCall, outcome: Outcome) -> None:
    """End the call's effect with its outcome, and the call with it."""
    effect = call.effect
    if effect is None:
        raise ValueError("This call has no effect.")
    # The reply obeys the signal when it is sent; doing it here would end the conversation before the reply.
    end_effect(log, effect, replace(outcome, signal=None), state=state_of(effect, outcome))
    enqueue_after_actions(effect)
    end_call(log, call, result_of(effect), is_error=effect.state != EffectState.DONE, outcome=outcome)


def enqueue_after_actions(effect: Effect) -> None:
    """Queue the after-actions of a project's own tool in the effects' lane, so that the answer does not wait for them."""
    if effect.definition.get("after_actions") and next_after_action(effect) is not None:
        enqueue([ledger.job_for(effect, reason="after")])


def state_of(effect: Effect, outcome: Outcome) -> EffectState:
    """The state an outcome gives an effect inside a turn. A read-only tool never ends unknown: it failed."""
    state = STATES[outcome.ending]
    is_harmless = effect.delivery == RetryPolicy.IDEMPOTENT and not effect.repeat_key
    return EffectState.FAILED if state == EffectState.UNKNOWN and is_harmless else state


def end_call(
    log: ConversationLog, call: TurnCall, result: str, *, is_error: bool, outcome: Outcome | None = None
) -> None:
    """Store the call's result and publish its block. Errors are logged."""
    if is_error:
        logger.error("%s of turn %s: %s", call.name, call.step.turn_id, result)
    call.result, call.is_error = result, is_error
    if outcome is not None and not is_error:
        call.block = dict(outcome.block) if outcome.block else None
        call.signal = outcome.signal or ""
    call.finished_at = log.now
    TurnCall.objects.filter(pk=call.pk).update(
        result=result, is_error=is_error, block=call.block, signal=call.signal, finished_at=Now()
    )
    if call.block:
        payload = {"turn": str(call.step.turn_id), "call": str(call.pk), "block": call.block}
        log.add_event("block", payload=payload, type=EventType.BLOCK)
