"""The consequences of an attempt's outcome for a todo's effect, in the same commit."""

from __future__ import annotations

from pydantic import ValidationError

from jobs.enqueue import enqueue
from todos.content.versions import time_of
from todos.executor.job_keys import queue_callback_check, queue_retry
from todos.executor.results import end_call
from todos.hooks import effect_changed
from todos.models import Approval, Todo, TodoCall
from tools.engine import ledger
from tools.engine.definition import AfterActionType
from tools.engine.execution.after_actions import end_after_action, plan_after_actions
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import NextStep, may_have_happened, next_attempt_at, next_step
from tools.engine.execution.run import definition_of
from tools.engine.promises import settle_promises
from tools.models import AfterAction, AfterActionState, Effect, EffectState

STATES = {NextStep.DONE: EffectState.DONE, NextStep.FAILED: EffectState.FAILED, NextStep.UNKNOWN: EffectState.UNKNOWN}
NO_CONVERSATION = "The todo has no conversation."
NO_CUSTOMER = "The todo has no customer."


def settle(todo: Todo, approval: Approval, call: TodoCall, outcome: Outcome) -> None:
    """Record an attempt's outcome; the todo is locked. It ends the call or queues a job that continues it."""
    effect = effect_of(call)
    course = next_step(effect, outcome, now=time_of(todo))
    if course is NextStep.AGAIN:
        _try_again(todo, approval, effect, outcome)
    elif course is NextStep.LATER:
        _wait_for_callback(todo, approval, effect, outcome)
    else:
        end(todo, call, outcome, state=STATES[course])


def end(todo: Todo, call: TodoCall, outcome: Outcome, *, state: EffectState) -> None:
    """End a call together with its effect. An effect that had already ended stays unchanged and is announced once."""
    effect = effect_of(call)
    is_new = ledger.store_outcome(effect, outcome, state=state)
    if is_new:
        _plan_after_actions(todo, effect)
    if is_new or call.finished_at is None:
        close(todo, call)


def fail_call(todo: Todo, call: TodoCall, reason: str) -> None:
    """End a call that can't be continued: unknown if the effect was started, failed otherwise."""
    effect = effect_of(call)
    is_open = effect.state == EffectState.SENDING or effect.is_uncertain
    end(todo, call, Outcome.failed(reason), state=EffectState.UNKNOWN if is_open else EffectState.FAILED)


def hold_back(todo: Todo, call: TodoCall, earlier: Effect) -> None:
    """Hold back an effect that repeats an earlier one."""
    ledger.hold_back(effect_of(call), earlier)
    close(todo, call)


def cancel(todo: Todo, call: TodoCall, reason: str) -> None:
    """Cancel a call that hasn't started."""
    ledger.cancel(effect_of(call), reason=reason)
    close(todo, call)


def close(todo: Todo, call: TodoCall) -> None:
    """Store the result of a call whose effect has ended, and notify listeners."""
    effect = effect_of(call)
    settle_promises(effect)
    end_call(todo, call, effect)
    announce(todo, effect)


def announce(todo: Todo, effect: Effect) -> None:
    """Notify listeners that the effect's state has changed."""
    effect_changed.send(todo, effect)


def effect_of(call: TodoCall) -> Effect:
    """The effect of a call that was not refused. Raises ValueError."""
    effect: Effect | None = call.effect
    if effect is None:
        raise ValueError("This call was refused; it has no effect.")
    return effect


def _try_again(todo: Todo, approval: Approval, effect: Effect, outcome: Outcome) -> None:
    due_at = next_attempt_at(effect, outcome, now=time_of(todo)) or time_of(todo)
    if ledger.requeue(effect, outcome, is_uncertain=may_have_happened(effect, outcome)):
        queue_retry(todo, approval, effect, at=due_at)
        announce(todo, effect)


def _wait_for_callback(todo: Todo, approval: Approval, effect: Effect, outcome: Outcome) -> None:
    if ledger.mark_accepted(effect, outcome):
        queue_callback_check(todo, approval, effect, at=time_of(todo) + ledger.CALLBACK_TIMEOUT)
        announce(todo, effect)


def _plan_after_actions(todo: Todo, effect: Effect) -> None:
    """Plan the after-actions of a custom tool; their own lane runs them.

    Without a conversation, only attributes of the todo's customer can be changed.
    """
    try:
        definition = definition_of(effect)
    except ValidationError:
        return
    if effect.state == EffectState.UNKNOWN or not definition.after_actions:
        return
    if AfterAction.objects.filter(effect=effect).exists():
        return
    rows = plan_after_actions(effect, definition)
    if effect.conversation_id is not None:
        enqueue([ledger.job_for(effect, reason="after")])
    elif [row for row in rows if not _is_skipped(todo, row)]:
        enqueue([ledger.after_actions_job(effect)])


def _is_skipped(todo: Todo, row: AfterAction) -> bool:
    """True if an after-action without a conversation has nothing to change; its reason is stored."""
    if row.type != AfterActionType.SET_PERSONA_ATTRIBUTE:
        end_after_action(row, AfterActionState.SKIPPED, error=NO_CONVERSATION)
    elif todo.persona_id is None:
        end_after_action(row, AfterActionState.SKIPPED, error=NO_CUSTOMER)
    else:
        return row.state == AfterActionState.SKIPPED
    return True
