"""One call of a step: begun under a standing approval, carried out once, and given its result (T1, T6, T8; reliability 2.2)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from projects.compiled import Compiled
from projects.threads import in_db
from todos import approvals
from todos.approvals import Void
from todos.content import fingerprint_of
from todos.executor import endings
from todos.executor.repeats import repeated_by
from todos.executor.returning import give_back
from todos.executor.work import occasion_of, todo_tx
from todos.models import Todo, TodoCall, TodoStatus
from tools import ledger
from tools.contacts import contact_of
from tools.definition import ActionType, Delivery
from tools.execution.callback import callback_token, digest_of
from tools.execution.caps import cap_of
from tools.execution.ending import DIED, MOST_ATTEMPTS
from tools.execution.handler import Contact, Occasion
from tools.execution.outcome import Outcome
from tools.execution.run import carry_out, definition_of
from tools.models import Effect, EffectState

log = logging.getLogger(__name__)

SWAPPED = "What is planned for {tool} isn't what was decided any more; look at it, and approve it again."


@dataclass(frozen=True)
class Begun:
    """An effect whose attempt is committed as begun."""

    effect: Effect
    occasion: Occasion


@dataclass(frozen=True)
class Attempted:
    """A call after an attempt whose outcome is still to be put down."""

    call_id: UUID
    conversation_id: UUID | None
    outcome: Outcome


async def carry_out_calls(job: ClaimedJob, calls: Sequence[UUID]) -> Attempted | None:
    """One attempt at each call that is due. Each may end, be put off, be kept back, or find its approval void.

    What became of the last attempt is given back: it is put down with what follows from it, in one commit.
    """
    attempted: Attempted | None = None
    for call_id in calls:
        if attempted is not None:
            await in_db(put_down, job, attempted)
            crash_point("todo.between_effects")
        attempted = await _carry_out(job, call_id)
    return attempted


async def _carry_out(job: ClaimedJob, call_id: UUID) -> Attempted | None:
    begun = await in_db(_begin, job, call_id)
    if begun is None:
        return None
    crash_point("effect.sending_pre_bytes")
    outcome = await _attempt(begun)
    crash_point("effect.response_pre_commit")
    return Attempted(call_id, begun.effect.conversation_id, outcome)


def put_down(job: ClaimedJob, attempted: Attempted) -> None:
    """Put down what happened, whatever became of the todo meanwhile."""
    with todo_tx(job, conversation_id=attempted.conversation_id) as todo:
        settle_attempt(todo, attempted)


def settle_attempt(todo: Todo, attempted: Attempted) -> None:
    """Put down what happened, inside a transaction that holds the conversation and has locked the todo."""
    call = _call(attempted.call_id)
    endings.settle(todo, call.step.approval, call, attempted.outcome)


async def _attempt(begun: Begun) -> Outcome:
    """What became of it. A tool that raises ends no run: what it did before isn't known (L19)."""
    try:
        return await carry_out(begun.effect, begun.occasion)
    except (
        Exception
    ) as error:  # the edge to the tools: any bug of a handler becomes a result that the model and staff see
        log.exception("%s raised.", begun.effect.tool)
        return Outcome.unknown(f"The tool broke off ({type(error).__name__}); whether it was done isn't known.")


def _begin(job: ClaimedJob, call_id: UUID) -> Begun | None:
    """The approval is looked at again, and `sending` committed, before anything leaves (T1, E1). None: not now, or never."""
    with todo_tx(job) as todo:
        call = _call(call_id)
        if call.finished_at is not None or todo.status != TodoStatus.IN_PROGRESS or todo.taker:
            return None
        contact = contact_of(todo.persona_id)
        try:
            approval = approvals.check(todo, contacts={contact.persona_id: contact} if contact else {})
        except Void as void:
            give_back(todo, void)
            return None
        if approval.pk != call.step.approval_id:
            return None
        if _is_swapped(call):
            give_back(todo, Void(SWAPPED.format(tool=call.name)))
            return None
        return None if _is_kept_back(todo, call) else _go(todo, endings.effect_of(call), contact)


def _is_swapped(call: TodoCall) -> bool:
    """Whether the ledger holds another plan than the step decided, or another version of the tool than was approved (T1)."""
    effect = endings.effect_of(call)
    decided = (call.name, call.arguments, call.step.approval.content["tools"].get(call.name))
    return decided != (effect.tool, effect.arguments, fingerprint_of(effect))


def _is_kept_back(todo: Todo, call: TodoCall) -> bool:
    """Whether the call has ended here: its worker died at it, it is a repeat, or too much."""
    effect = endings.effect_of(call)
    if effect.state == EffectState.SENDING:
        if effect.delivery != Delivery.ONCE and effect.attempts < MOST_ATTEMPTS:
            return False
        endings.give_up(todo, call, DIED)
        return True
    earlier = repeated_by(todo, call.step.approval, effect)
    if earlier is not None:
        endings.hold(todo, call, earlier)
    elif too_much := cap_of(effect):
        endings.end(todo, call, Outcome.failed(too_much), state=EffectState.FAILED)
    else:
        return False
    return True


def _go(todo: Todo, effect: Effect, contact: Contact | None) -> Begun | None:
    action = definition_of(effect).action
    answers_later = action.type is ActionType.SEND_WEBHOOK and action.webhook.callback
    if not ledger.begin_sending(effect, callback_hash=digest_of(callback_token(effect.pk)) if answers_later else ""):
        return None
    return Begun(effect, occasion_of(todo, effect, contact=contact))


CALLS = Compiled(
    lambda call: TodoCall.objects.select_related("effect", "step__approval").filter(pk=call), kinds=(UUID,)
)


def _call(call_id: UUID) -> TodoCall:
    [call] = CALLS(call_id)
    return call
