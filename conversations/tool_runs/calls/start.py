"""Storing a hop and beginning its calls, in one commit: nothing leaves before `sending` stands (E1)."""

from __future__ import annotations

from enum import Enum

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall, TurnStep
from conversations.models.event import EventType
from conversations.tool_runs.calls.ending import end_call, end_with_effect
from conversations.tool_runs.effects.approval import ask_for_approval, hold_repeat, waiting_for
from conversations.tool_runs.effects.effect_context import has_asked_since
from conversations.tool_runs.effects.outcome_events import tell_held
from tenancy.write_batch import Writes
from tools.engine import ledger
from tools.engine.definition import Delivery
from tools.engine.execution.limits import cap_of
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import DIED
from tools.engine.execution.repeats import find_repeated
from tools.engine.function_calling.redaction import shown_arguments
from tools.engine.function_calling.results import result_of
from tools.models import Effect, EffectState

APPROVAL = "A colleague has to approve this first and has been asked. Tell the customer so, and never that it was done."

ALLOWED = "This is allowed by the business and being done now. Say so, and never that it was done already."


def store_step(log: ConversationLog, step: TurnStep, calls: list[TurnCall]) -> None:
    """Put a hop down with its calls and their planned effects: from here on no model is asked for them again (T6)."""
    writes = Writes()
    writes.insert([step])
    writes.insert([call.effect for call in calls if call.effect is not None])
    writes.insert(calls)
    writes.send()
    for call in calls:
        payload = {
            "turn": str(step.turn_id),
            "call": str(call.pk),
            "tool": call.name,
            "arguments": shown_arguments(call.name, call.arguments),
            "hop": step.number,
        }
        log.add_event(call.name or "tool_call", payload=payload, type=EventType.TOOL_CALL)


class Begin(Enum):
    """How a call begins: it is carried out, it has to be asked whether a repeat is wanted, or it has its result."""

    GOES = "goes"
    ASKS = "asks"
    OVER = "over"


def begin_call(log: ConversationLog, call: TurnCall, *, asked_again: bool | None = None) -> Begin:
    """Begin a call, or give it its result where nothing is to be done. A call that leaves no effect always goes.

    Under the conversation's lock, so that of two that are the same thing one sees the other.
    """
    effect = call.effect
    if call.finished_at is not None:
        return Begin.OVER
    if effect is None:
        return Begin.GOES
    if effect.state == EffectState.SENDING and effect.delivery == Delivery.ONCE:
        end_with_effect(log, call, Outcome.unknown(DIED))
        return Begin.OVER
    if effect.state not in ledger.OPEN:
        end_call(log, call, result_of(effect), is_error=effect.state != EffectState.DONE)
        return Begin.OVER
    if effect.state == EffectState.PLANNED and (kept_back := _keep_back(log, call, effect, asked_again)) is not None:
        return kept_back
    return Begin.GOES if ledger.begin_sending(effect) else Begin.OVER


def _keep_back(log: ConversationLog, call: TurnCall, effect: Effect, asked_again: bool | None) -> Begin | None:
    """A repeat is held (E6), what is too much fails (threat 8), what needs a yes waits. None: nothing keeps it back."""
    earlier = None if asked_again else find_repeated(effect) or waiting_for(effect)
    if earlier is not None and asked_again is None and has_asked_since(effect, earlier):
        return Begin.ASKS
    if earlier is not None and hold_repeat(effect, earlier):
        tell_held(log, effect)
        end_call(log, call, result_of(effect), is_error=False)
    elif too_much := cap_of(effect):
        end_with_effect(log, call, Outcome.failed(too_much))
    elif ledger.needs_approval(effect):
        end_call(log, call, APPROVAL if ask_for_approval(log, effect) else ALLOWED, is_error=False)
    else:
        return None
    return Begin.OVER
