"""One call of a step: begun under a standing approval, carried out once, and given its result (T1, T6, T8; reliability 2.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db.models import Q

from jobs.failpoints import failpoint
from jobs.lanes import ClaimedJob
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from tenancy.threads import in_db
from todos.approvals import validity
from todos.approvals.validity import Void
from todos.content.snapshot import ApprovalContext, fingerprint_of, load_approval_context
from todos.content.versions import standing_approval
from todos.executor import settle
from todos.executor.run_context import RunContext, context_of, todo_tx
from todos.executor.stop import stop_for_review
from todos.models import Approval, Todo, TodoCall, TodoStatus
from tools.engine import ledger
from tools.engine.definition import ActionType, RetryPolicy
from tools.engine.execution.callback import callback_token, digest_of
from tools.engine.execution.deduplication import EXECUTED_STATES, find_duplicate
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.limits import why_over_limit
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS, WORKER_DIED
from tools.engine.execution.run import definition_of, execute
from tools.engine.function_calling.attempt import TOOL_CRASHED
from tools.models import Effect, EffectState

log = logging.getLogger(__name__)

SWAPPED = "What is planned for {tool} isn't what was decided any more; look at it, and approve it again."


@dataclass(frozen=True)
class StartedCall:
    """An effect whose attempt is committed as begun, and the ground that its approval was found to hold on."""

    effect: Effect
    tool_context: ToolContext
    ground: ApprovalContext


@dataclass(frozen=True)
class HeldCall:
    """Nothing was begun or written yet: the call ends here, which its conversation is to learn in the same commit."""

    conversation_id: UUID | None


@dataclass(frozen=True)
class Attempted:
    """A call after an attempt whose outcome is still to be put down. `ground` is what its todo stood on when it began."""

    call_id: UUID
    conversation_id: UUID | None
    outcome: Outcome
    ground: ApprovalContext


async def carry_out_calls(
    job: ClaimedJob, calls: Sequence[UUID], *, begins_in: UUID | None, first: StartedCall | HeldCall | None = None
) -> Attempted | None:
    """One attempt at each call that is due. Each may end, be put off, be kept back, or find its approval void. `begins_in` is the
    todo's conversation.

    `first` is how the first of them has begun already. What became of the last attempt is given back: it is put down with what
    follows from it, in one commit.
    """
    attempted: Attempted | None = None
    for at, call_id in enumerate(calls):
        if attempted is not None:
            await in_db(record, job, attempted)
            failpoint("todo.between_effects")
        attempted = await _carry_out(job, call_id, begins_in=begins_in, begun=None if at else first)
    return attempted


async def _carry_out(
    job: ClaimedJob, call_id: UUID, *, begins_in: UUID | None, begun: StartedCall | HeldCall | None
) -> Attempted | None:
    if begun is None:
        begun = await in_db(_begin, job, call_id, begins_in=begins_in)
    if isinstance(begun, HeldCall):
        begun = await in_db(_begin, job, call_id, begins_in=begins_in, keeping=begun)
    if not isinstance(begun, StartedCall):
        return None
    failpoint("effect.sending_pre_bytes")
    outcome = await _attempt(begun)
    failpoint("effect.response_pre_commit")
    return Attempted(call_id, begun.effect.conversation_id, outcome, begun.ground)


def record(job: ClaimedJob, attempted: Attempted) -> None:
    """Put down what happened, whatever became of the todo meanwhile."""
    with todo_tx(job, conversation_id=attempted.conversation_id) as todo:
        settle_attempt(todo, attempted)


def settle_attempt(todo: Todo, attempted: Attempted, *, work: RunContext | None = None) -> None:
    """Put down what happened, inside a transaction that holds the conversation and has locked the todo.

    `work` is the todo's run as that transaction has read it; its call is then as it stands afterwards.
    """
    known = [call for call in work.open_calls if call.pk == attempted.call_id] if work else []
    call = known[0] if known else _call(attempted.call_id)
    settle.settle(todo, call.step.approval, call, attempted.outcome)


async def _attempt(begun: StartedCall) -> Outcome:
    """What became of it. A tool that raises ends no run: what it did before isn't known (L19)."""
    try:
        return await execute(begun.effect, begun.tool_context)
    except Exception:  # the edge to the tools: any bug of a handler becomes a result that the model and staff see
        log.exception("%s raised.", begun.effect.tool)
        return Outcome.unknown(TOOL_CRASHED)


def _begin(
    job: ClaimedJob, call_id: UUID, *, begins_in: UUID | None, keeping: HeldCall | None = None
) -> StartedCall | HeldCall | None:
    """Begin a stored call in a transaction of its own. With `keeping` the conversation is held: a call that is kept back ends."""
    with todo_tx(job, conversation_id=keeping.conversation_id if keeping else None, begins_in=begins_in) as todo:
        call = _call(call_id)
        return begin_call(todo, call, approval=_standing(todo, call), keeping=keeping)


def begin_call(
    todo: Todo, call: TodoCall, *, approval: Approval | None, keeping: HeldCall | None = None
) -> StartedCall | HeldCall | None:
    """The approval is looked at again, and `sending` committed, before anything leaves (T1, E1). None: not now, or never.

    Inside a transaction that has locked the todo and then read the whole of it, and the `approval` of its version. Kept: the call
    is to end here instead, which it does with `keeping`.
    """
    if call.finished_at is not None or todo.status != TodoStatus.IN_PROGRESS or todo.taker:
        return None
    ground = load_approval_context(todo)
    try:
        approval = validity.check(todo, approval, ground=ground)
    except Void as void:
        stop_for_review(todo, void)
        return None
    if approval.pk != call.step.approval_id:
        return None
    if _is_swapped(call):
        stop_for_review(todo, Void(SWAPPED.format(tool=call.name)))
        return None
    end = _kept_back_by(todo, call)
    if end is None:
        return _go(todo, settle.effect_of(call), ground)
    if keeping is None:
        return HeldCall(todo.conversation_id)
    end()
    return None


def _standing(todo: Todo, call: TodoCall) -> Approval | None:
    """The approval of the todo's version: that of the call, unless another one stands by now."""
    approval = call.step.approval
    is_standing = approval.version == todo.version and approval.ended_at is None
    return approval if is_standing else standing_approval(todo)


def _is_swapped(call: TodoCall) -> bool:
    """Whether the ledger holds another plan than the step decided, or another version of the tool than was approved (T1)."""
    effect = settle.effect_of(call)
    decided = (call.name, call.arguments, call.step.approval.content["tools"].get(call.name))
    return decided != (effect.tool, effect.arguments, fingerprint_of(effect))


def _kept_back_by(todo: Todo, call: TodoCall) -> Callable[[], None] | None:
    """What ends the call here, because its worker died at it, or it is a repeat, or too much. None where it may begin."""
    effect = settle.effect_of(call)
    if effect.state == EffectState.SENDING:
        if effect.delivery != RetryPolicy.ONCE and effect.attempts < MAX_ATTEMPTS:
            return None
        return partial(settle.fail_call, todo, call, WORKER_DIED)
    earlier = repeated_by(todo, call.step.approval, effect)
    if earlier is not None:
        return partial(settle.hold_back, todo, call, earlier)
    if too_much := why_over_limit(effect):
        return partial(settle.end, todo, call, Outcome.failed(too_much), state=EffectState.FAILED)
    return None


def _go(todo: Todo, effect: Effect, ground: ApprovalContext) -> StartedCall | None:
    action = definition_of(effect).action
    answers_later = action.type is ActionType.SEND_WEBHOOK and action.webhook.callback
    if not ledger.begin_sending(effect, callback_hash=digest_of(callback_token(effect.pk)) if answers_later else ""):
        return None
    return StartedCall(effect, context_of(todo, effect, contact=ground.contact), ground)


CALLS = PreparedQuery(
    lambda call: TodoCall.objects.select_related("effect", "step__approval").filter(pk=call), kinds=(UUID,)
)


def _call(call_id: UUID) -> TodoCall:
    [call] = CALLS(call_id)
    return call


EARLIER_RUNS = PreparedQuery(
    lambda todo, approval, effect, same, tool, recipient: (
        Effect.objects.filter(
            (Q(repeat_key=same) & ~Q(repeat_key="")) | (Q(tool=tool, recipient=recipient) & ~Q(recipient="")),
            todo_calls__step__todo=todo,
            state__in=EXECUTED_STATES,
        )
        .exclude(todo_calls__step__approval=approval)
        .exclude(pk=effect)
        .order_by("-started_at")[:1]
    ),
    kinds=(UUID, UUID, UUID, str, str, str),
)
_ONE_AT_A_TIME = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def repeated_by(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    """What was done already and isn't ticked to be done once more; inside the transaction that begins the effect.

    Whatever an earlier run of the same todo did counts, however long ago; else the same thing within the window of its kind:
    two different texts to one customer, each of them approved, are no repeat.
    Of two todos that begin the same at once the second sees the first; and so does one that begins what a turn does, because both
    have locked the conversation.
    """
    if effect.resolved_at is not None:
        return None
    _wait_for_others(effect)
    earlier = _of_earlier_runs(todo, approval, effect) or find_duplicate(effect)
    return None if earlier is None or _is_ticked(earlier, approval) else earlier


def _is_ticked(earlier: Effect, approval: Approval) -> bool:
    """Whether it is to be done once more: what was done is ticked, or what was held back because of it."""
    if str(earlier.pk) in approval.repeats:
        return True
    return bool(approval.repeats) and Effect.objects.filter(pk__in=approval.repeats, repeats=earlier.pk).exists()


def _of_earlier_runs(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    if approval.version == 1:
        return None
    same = EARLIER_RUNS(todo.pk, approval.pk, effect.pk, effect.repeat_key, effect.tool, effect.recipient)
    return next(iter(same), None)


def _wait_for_others(effect: Effect) -> None:
    if effect.repeat_key:
        _ONE_AT_A_TIME(effect.repeat_key)
