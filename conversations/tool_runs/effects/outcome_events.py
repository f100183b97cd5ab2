"""Tells the agent how effects ended: through the wait for them, or by a message of its own."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError

from conversations.common.instructions import OUTCOME_UNKNOWN
from conversations.followups.proactive import say_proactively
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog, lock_conversation
from conversations.models import Event, WaitOutcome
from conversations.models.event import URGENT, UrgentSource
from tools.engine import ledger
from tools.engine.definition import ActionType, ToolDefinition
from tools.engine.execution.run import definition_of
from tools.engine.execution.schemas import handler_of
from tools.models import Effect, EffectOrigin, EffectState, ReceiptState

UNKNOWN_OUTCOME = "It is not known whether what was promised (“{quote}”) has happened; a colleague is checking it."
# Details of a fault, such as a model server's error, are for staff and never for a customer.
FAULT = "{tool} was not done: a fault on our side kept it from being tried. Staff sees it."
# Reason of the job that checks whether the callback came.
CALLBACK = "callback"
NO_CALLBACK = "It was taken on, and no result has come."
OUTCOMES = {EffectState.DONE: WaitOutcome.RESULT, EffectState.HELD: WaitOutcome.RESULT}


def tell_end(log: ConversationLog, effect: Effect) -> None:
    """Tell the agent once how the effect ended: through the wait for it, or proactively if it has to be said."""
    outcome = OUTCOMES.get(EffectState(effect.state), WaitOutcome.FAILURE)
    told, source = sentence_of(effect), _source_of(effect)
    instruction = instruction_about(effect)
    is_told = end_wait(log, effect.pk, outcome=outcome, told=told, source=source, instruction=instruction)
    if not is_told and (_has_to_be_said(effect) or _is_revision(log, effect)):
        say_proactively(log, told, {"effect": str(effect.pk)}, source=source, instruction=instruction)


def sentence_of(effect: Effect) -> str:
    """An effect's end as a sentence for the agent. An unknown outcome is never told as a success."""
    if effect.state == EffectState.UNKNOWN:
        return UNKNOWN_OUTCOME.format(quote=effect.quote)
    if effect.state == EffectState.DONE:
        return effect.told or f"{effect.tool} was done."
    return effect.told or ledger.NOT_DONE.format(tool=effect.tool, why=effect.error)


def instruction_about(effect: Effect) -> str:
    """How the agent speaks of an effect's end. It stands apart from the sentence, because no customer may read it."""
    return OUTCOME_UNKNOWN if effect.state == EffectState.UNKNOWN else ""


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


def _has_to_be_said(effect: Effect) -> bool:
    """True if the agent must say it on its own: it failed, a person resolved it, or the tool is made to tell."""
    if effect.origin == EffectOrigin.TURN and effect.receipt == ReceiptState.FAILED:
        # The reply said that it was sent.
        return True
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
    """True if a retry or a late result changed an end that the agent was told of."""
    earlier = Event.objects.filter(conversation=log.conversation, idn=URGENT, payload__effect=str(effect.pk))
    return effect.origin == EffectOrigin.COMMITMENT and effect.state == EffectState.DONE and earlier.exists()
