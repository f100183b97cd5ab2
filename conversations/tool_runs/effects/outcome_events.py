"""Tells the conversation about its effects: events, promises, the end of a wait, and messages to the agent."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError

from conversations.followups.proactive import say_proactively
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog, lock_conversation
from conversations.models import Event, WaitOutcome
from conversations.models.event import URGENT, EventType, UrgentSource
from conversations.turns.channel_signals import apply_signal
from jobs.enqueue import enqueue
from tools.engine import ledger
from tools.engine.definition import ActionType, ToolDefinition
from tools.engine.execution.after_actions import plan_after_actions, tells
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import NextStep, may_have_happened, next_attempt_at, next_step
from tools.engine.execution.run import definition_of
from tools.engine.execution.schemas import handler_of
from tools.engine.presenters import effect_payload
from tools.engine.promises import settle_promises
from tools.models import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState

UNKNOWN_OUTCOME = (
    "It is not known whether what was promised (“{quote}”) has happened; a colleague is checking it. "
    "Say so if the customer asks, and never that it was done."
)
# Details of a fault, such as a model server's error, are for staff and never for a customer.
FAULT = "{tool} was not done: a fault on our side kept it from being tried. Staff sees it."
# Reason of the job that checks whether the callback came.
CALLBACK = "callback"
NO_CALLBACK = "It was taken on, and no result has come."
SPOKEN_AGAIN = "The customer spoke again after the goodbye."
STATES = {NextStep.DONE: EffectState.DONE, NextStep.FAILED: EffectState.FAILED, NextStep.UNKNOWN: EffectState.UNKNOWN}
OUTCOMES = {EffectState.DONE: WaitOutcome.RESULT, EffectState.HELD: WaitOutcome.RESULT}


def settle(log: ConversationLog, effect: Effect, outcome: Outcome) -> None:
    """Store an attempt's outcome with all its consequences, under the conversation's lock.

    A finished effect does not change.
    """
    course = next_step(effect, outcome, now=log.now)
    if course is NextStep.AGAIN:
        _try_again(log, effect, outcome)
    elif course is NextStep.LATER:
        _wait_for_callback(log, effect, outcome)
    else:
        end_effect(log, effect, outcome, state=STATES[course])


def record_failure(log: ConversationLog, effect: Effect, reason: str, *, told: str = "") -> None:
    """End an effect that cannot be retried: as unknown if it may have happened, else as failed.

    `told` replaces the reason in what the agent is told about a failed one.
    """
    state = EffectState.UNKNOWN if effect.state == EffectState.SENDING or effect.is_uncertain else EffectState.FAILED
    end_effect(log, effect, Outcome.failed(reason, told=told), state=state)


def announce_held(log: ConversationLog, effect: Effect) -> None:
    """Announce a held repeat. Its promise becomes the earlier effect's, and the agent reads that it was done already."""
    _announce(log, effect)
    end_wait(log, effect.pk, outcome=WaitOutcome.RESULT, told=effect.told)


def announce_cancelled(log: ConversationLog, effect: Effect) -> None:
    """Announce a cancelled effect, and tell the agent, who promised it."""
    _announce(log, effect)
    tell_end(log, effect)


def tell_end(log: ConversationLog, effect: Effect) -> None:
    """Tell the agent once how the effect ended: through the wait for it, or proactively if it has to be said."""
    outcome = OUTCOMES.get(EffectState(effect.state), WaitOutcome.FAILURE)
    told, source = sentence_of(effect), _source_of(effect)
    is_told = end_wait(log, effect.pk, outcome=outcome, told=told, source=source)
    if not is_told and (_has_to_be_said(effect) or _is_revision(log, effect)):
        say_proactively(log, told, {"effect": str(effect.pk)}, source=source)


def sentence_of(effect: Effect) -> str:
    """An effect's end as a sentence for the agent. An unknown outcome is never told as a success."""
    if effect.state == EffectState.UNKNOWN:
        return UNKNOWN_OUTCOME.format(quote=effect.quote)
    if effect.state == EffectState.DONE:
        return effect.told or f"{effect.tool} was done."
    return effect.told or f"{effect.tool} was not done: {effect.error}"


def _source_of(effect: Effect) -> UrgentSource:
    """The business for a tool that is a fixed message of its own; the tool for every result."""
    definition = definition_or_none(effect) if effect.state == EffectState.DONE else None
    action = definition.action if definition is not None else None
    is_own = action is not None and action.type is ActionType.SEND_URGENT_MESSAGE and action.urgent_message.message
    return UrgentSource.BUSINESS if is_own else UrgentSource.TOOL


def is_callback_job(key: str, *, attempt: int | None = None) -> bool:
    """True if a job only checks whether the callback came; with `attempt`, for that attempt only."""
    return f":{CALLBACK}:" in key and (attempt is None or key.endswith(f":{attempt}"))


def conversation_of(effect: Effect) -> UUID:
    """The effect's conversation. Raises ValueError for an effect without one."""
    if effect.conversation_id is None:
        raise ValueError("This effect has no conversation.")
    return effect.conversation_id


def lock_effect(effect_id: UUID) -> None:
    """Lock the effect's conversation, if it has one, until the end of the transaction."""
    effect = Effect.objects.filter(pk=effect_id).first()
    if effect is not None and effect.conversation_id is not None:
        lock_conversation(effect.conversation_id)


def definition_or_none(effect: Effect) -> ToolDefinition | None:
    try:
        return definition_of(effect)
    except ValidationError:
        return None


def end_effect(log: ConversationLog, effect: Effect, outcome: Outcome, *, state: EffectState) -> None:
    """End an effect in `state`, with all consequences; a finished effect does not change."""
    if outcome.signal is not None and not apply_signal(
        log, outcome.signal, turn_id=effect.turn_id, result=outcome.result
    ):
        outcome, state = Outcome.failed(SPOKEN_AGAIN), EffectState.CANCELLED
    if not ledger.store_outcome(effect, outcome, state=state):
        return
    rows = _plan_after_actions(effect) if state != EffectState.UNKNOWN else []
    _announce(log, effect)
    if state == EffectState.CANCELLED:
        end_wait(log, effect.pk, outcome=WaitOutcome.FAILURE, told=SPOKEN_AGAIN)
    elif not any(_tells_the_end(row, effect) for row in rows):
        tell_end(log, effect)


def _tells_the_end(row: AfterAction, effect: Effect) -> bool:
    """True if an after-action will tell the agent the end. A tool that is itself a message needs no second one."""
    is_message = definition_of(effect).action.type is ActionType.SEND_URGENT_MESSAGE
    will_tell = tells(row) and row.state == AfterActionState.PLANNED
    return will_tell and not (is_message and row.options.get("message"))


def _plan_after_actions(effect: Effect) -> list[AfterAction]:
    definition = definition_or_none(effect)
    if definition is None or not definition.after_actions or AfterAction.objects.filter(effect=effect).exists():
        return []
    return plan_after_actions(effect, definition)


def _try_again(log: ConversationLog, effect: Effect, outcome: Outcome) -> None:
    due_at = next_attempt_at(effect, outcome, now=log.now)
    if ledger.requeue(effect, outcome, is_uncertain=may_have_happened(effect, outcome)):
        enqueue([ledger.job_for(effect, reason=f"attempt:{effect.attempts + 1}", run_after=due_at)])
        _announce(log, effect, idn="effect_retrying")


def _wait_for_callback(log: ConversationLog, effect: Effect, outcome: Outcome) -> None:
    if ledger.mark_accepted(effect, outcome):
        reason = f"{CALLBACK}:{effect.attempts}"
        enqueue([ledger.job_for(effect, reason=reason, run_after=log.now + ledger.CALLBACK_TIMEOUT)])
        _announce(log, effect, idn="effect_accepted")


def _announce(log: ConversationLog, effect: Effect, *, idn: str = "") -> None:
    """Publish the effect's state to the live stream and its promises."""
    settle_promises(effect)
    log.add_event(idn or f"effect_{effect.state}", payload=effect_payload(effect), type=EventType.EFFECT)


def _has_to_be_said(effect: Effect) -> bool:
    """True if the agent must say it on its own: it failed, a person resolved it, or the tool is made to tell."""
    if effect.origin != EffectOrigin.COMMITMENT:
        return False
    if effect.state in (EffectState.FAILED, EffectState.UNKNOWN, EffectState.CANCELLED) or effect.resolved_at:
        return True
    if ledger.needs_approval(effect):
        # The customer may have been told that a colleague must approve it first.
        return True
    definition = definition_or_none(effect)
    if definition is None:
        return False
    handler = handler_of(effect.tool, definition)
    return definition.action.type is ActionType.SEND_URGENT_MESSAGE or (handler is not None and handler.tells)


def _is_revision(log: ConversationLog, effect: Effect) -> bool:
    """True if the agent was told of an earlier end that was revised by a retry or a late result."""
    earlier = Event.objects.filter(conversation=log.conversation, idn=URGENT, payload__effect=str(effect.pk))
    return effect.origin == EffectOrigin.COMMITMENT and effect.state == EffectState.DONE and earlier.exists()
