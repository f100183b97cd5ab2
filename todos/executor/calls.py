"""One call of a step: begun under a standing approval, carried out once, and given its result (T1, T6, T8; reliability 2.2)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from projects.compiled import Compiled
from projects.threads import in_db
from todos import approvals
from todos.approvals import Void
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
from tools.execution.ending import MOST_ATTEMPTS
from tools.execution.handler import Contact, Occasion
from tools.execution.outcome import Outcome
from tools.execution.run import carry_out, definition_of
from tools.models import Effect, EffectState

log = logging.getLogger(__name__)

DIED = "The worker that was at it died; whether it was done isn't known."


@dataclass(frozen=True)
class Begun:
    """An effect whose attempt is committed as begun."""

    effect: Effect
    occasion: Occasion


async def carry_out_call(job: ClaimedJob, call_id: UUID) -> None:
    """One attempt at a call that is due. It may end, be put off, be kept back, or find its approval void."""
    begun = await in_db(_begin, job, call_id)
    if begun is None:
        return
    crash_point("effect.sending_pre_bytes")
    outcome = await _attempt(begun)
    crash_point("effect.response_pre_commit")
    await in_db(_settle, job, call_id, outcome)
    crash_point("todo.between_effects")


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
        if call.finished_at is not None or todo.status != TodoStatus.IN_PROGRESS:
            return None
        contact = contact_of(todo.persona_id)
        try:
            approval = approvals.check(todo, contacts={contact.persona_id: contact} if contact else {})
        except Void as void:
            give_back(todo, void)
            return None
        if approval.pk != call.step.approval_id or _is_kept_back(todo, call):
            return None
        return _go(todo, endings.effect_of(call), contact)


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
    endings.announce(todo, effect)
    return Begun(effect, occasion_of(todo, effect, contact=contact))


def _settle(job: ClaimedJob, call_id: UUID, outcome: Outcome) -> None:
    """What happened is put down whatever became of the todo meanwhile."""
    with todo_tx(job) as todo:
        call = _call(call_id)
        endings.settle(todo, call.step.approval, call, outcome)


CALLS = Compiled(
    lambda call: TodoCall.objects.select_related("effect", "step__approval").filter(pk=call), kinds=(UUID,)
)


def _call(call_id: UUID) -> TodoCall:
    [call] = CALLS(call_id)
    return call
