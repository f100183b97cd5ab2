"""What the conversation learns of an effect: events, promises, the end of a wait, and what the agent is told (E5, T24)."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError

from conversations.followups.proactive import say_proactively
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog, lock_conversation
from conversations.models import Event, WaitOutcome
from conversations.models.event import URGENT, EventType
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

CHECKED = (
    "It is not known whether what was promised (“{quote}”) has happened; a colleague is checking it. "
    "Say so if the customer asks, and never that it was done."
)
# What staff reads of a fault, such as what a model's server answered, is nothing for a customer.
FAULT = "{tool} was not done: a fault on our side kept it from being tried. Staff sees it."
# The job that looks whether the callback came.
CALLBACK = "callback"
NO_CALLBACK = "It was taken on, and no result has come."
SPOKEN_AGAIN = "The customer spoke again after the goodbye."
STATES = {NextStep.DONE: EffectState.DONE, NextStep.FAILED: EffectState.FAILED, NextStep.UNKNOWN: EffectState.UNKNOWN}
OUTCOMES = {EffectState.DONE: WaitOutcome.RESULT, EffectState.HELD: WaitOutcome.RESULT}


def settle(log: ConversationLog, effect: Effect, outcome: Outcome) -> None:
    """Put an attempt's outcome down with everything that follows from it, under the conversation's lock (E4, E8).

    An effect that was over already stays as it is.
    """
    course = next_step(effect, outcome, now=log.now)
    if course is NextStep.AGAIN:
        _try_again(log, effect, outcome)
    elif course is NextStep.LATER:
        _wait_for_callback(log, effect, outcome)
    else:
        end_effect(log, effect, outcome, state=STATES[course])


def record_failure(log: ConversationLog, effect: Effect, reason: str, *, told: str = "") -> None:
    """It can't be worked on any more: what has begun may have happened, anything else certainly did not (E4).

    `told` is what the agent is told of one that did not, in place of the reason.
    """
    state = EffectState.UNKNOWN if effect.state == EffectState.SENDING or effect.is_uncertain else EffectState.FAILED
    end_effect(log, effect, Outcome.failed(reason, told=told), state=state)


def tell_held(log: ConversationLog, effect: Effect) -> None:
    """A repeat is held: its promise is the earlier effect's, and the agent reads that it was done already."""
    _announce(log, effect)
    end_wait(log, effect.pk, outcome=WaitOutcome.RESULT, told=effect.told)


def tell_cancelled(log: ConversationLog, effect: Effect) -> None:
    """It isn't done any more, and the agent has promised it."""
    _announce(log, effect)
    tell_end(log, effect)


def tell_end(log: ConversationLog, effect: Effect) -> None:
    """Tell the agent how it ended, once: by the end of the wait for it, or because it has to be said."""
    outcome = OUTCOMES.get(EffectState(effect.state), WaitOutcome.FAILURE)
    is_told = end_wait(log, effect.pk, outcome=outcome, told=sentence_of(effect))
    if not is_told and (_has_to_be_said(effect) or _was_told_otherwise(log, effect)):
        say_proactively(log, sentence_of(effect), {"effect": str(effect.pk)})


def sentence_of(effect: Effect) -> str:
    """An effect's end as the agent is told it. An unknown one is never told as a success (E5)."""
    if effect.state == EffectState.UNKNOWN:
        return CHECKED.format(quote=effect.quote)
    if effect.state == EffectState.DONE:
        return effect.told or f"{effect.tool} was done."
    return effect.told or f"{effect.tool} was not done: {effect.error}"


def is_callback_job(key: str, *, attempt: int | None = None) -> bool:
    """Whether a job only looks whether the callback came, of any attempt or of this one."""
    return f":{CALLBACK}:" in key and (attempt is None or key.endswith(f":{attempt}"))


def conversation_of(effect: Effect) -> UUID:
    """The conversation that an effect of the tool caller's belongs to."""
    if effect.conversation_id is None:
        raise ValueError("This effect belongs to no conversation.")
    return effect.conversation_id


def lock_effect(effect_id: UUID) -> None:
    """Lock the conversation of an effect, where it has one, for what follows in the transaction."""
    effect = Effect.objects.filter(pk=effect_id).first()
    if effect is not None and effect.conversation_id is not None:
        lock_conversation(effect.conversation_id)


def definition_or_none(effect: Effect) -> ToolDefinition | None:
    try:
        return definition_of(effect)
    except ValidationError:
        return None


def end_effect(log: ConversationLog, effect: Effect, outcome: Outcome, *, state: EffectState) -> None:
    """End an effect in this state, with everything that follows; one that was over already stays as it is."""
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
    """Whether an after-action will tell what came of it. A message that is the action isn't told by another message (N46)."""
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
    """Tell the live stream and the promises of the effect's state."""
    settle_promises(effect)
    log.add_event(idn or f"effect_{effect.state}", payload=effect_payload(effect), type=EventType.EFFECT)


def _has_to_be_said(effect: Effect) -> bool:
    """Whether the agent speaks by itself: it didn't work out, somebody looked into it, or the tool is made to tell (T24)."""
    if effect.origin != EffectOrigin.COMMITMENT:
        return False
    if effect.state in (EffectState.FAILED, EffectState.UNKNOWN, EffectState.CANCELLED) or effect.resolved_at:
        return True
    if ledger.needs_approval(effect):
        # The customer was told, or may think, that somebody has to look at it first.
        return True
    definition = definition_or_none(effect)
    if definition is None:
        return False
    handler = handler_of(effect.tool, definition)
    return definition.action.type is ActionType.SEND_URGENT_MESSAGE or (handler is not None and handler.tells)


def _was_told_otherwise(log: ConversationLog, effect: Effect) -> bool:
    """Whether the agent has heard of an end that was none: it was run again, or its result came after all."""
    told = Event.objects.filter(conversation=log.conversation, idn=URGENT, payload__effect=str(effect.pk))
    return effect.origin == EffectOrigin.COMMITMENT and effect.state == EffectState.DONE and told.exists()
