"""Execution of one call: started under a valid approval, executed once, and given its result."""

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
from todos.approvals.validity import InvalidApproval
from todos.content.snapshot import ApprovalContext, fingerprint_of, load_approval_context
from todos.content.versions import current_approval
from todos.executor import settle
from todos.executor.run_context import RunContext, todo_tx, tool_context_of
from todos.executor.stop import stop_for_review
from todos.models import Approval, Todo, TodoCall, TodoStatus
from tools.engine import ledger
from tools.engine.definition import RetryPolicy
from tools.engine.execution.callback import callback_hash
from tools.engine.execution.deduplication import EXECUTED_STATES, find_duplicate
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.limits import why_over_limit
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS, WORKER_DIED
from tools.engine.execution.run import definition_of, execute
from tools.engine.function_calling.attempt import TOOL_CRASHED
from tools.models import Effect, EffectState

log = logging.getLogger(__name__)

PLAN_CHANGED = "The plan for {tool} has changed since it was decided. Review and approve it again."


@dataclass(frozen=True)
class StartedCall:
    """An effect whose attempt is committed as started, and the context its approval was checked against."""

    effect: Effect
    tool_context: ToolContext
    approval_context: ApprovalContext


@dataclass(frozen=True)
class HeldCall:
    """A call that must end without being started or written yet; its conversation has to be told in the same commit."""

    conversation_id: UUID | None


@dataclass(frozen=True)
class AttemptedCall:
    """A call after an attempt whose outcome isn't recorded yet, with the context its todo was started with."""

    call_id: UUID
    conversation_id: UUID | None
    outcome: Outcome
    approval_context: ApprovalContext


async def execute_calls(
    job: ClaimedJob,
    calls: Sequence[UUID],
    *,
    locked_conversation_id: UUID | None,
    first: StartedCall | HeldCall | None = None,
) -> AttemptedCall | None:
    """Make one attempt at each due call. A call may end, be postponed, be held back, or find its approval void.

    `locked_conversation_id` is the todo's conversation; `first` is the first call if it has been started. The last
    attempt is returned unrecorded, so that it is recorded in one commit with the next move.
    """
    attempted: AttemptedCall | None = None
    for at, call_id in enumerate(calls):
        if attempted is not None:
            await in_db(record, job, attempted)
            failpoint("todo.between_effects")
        attempted = await _execute_call(
            job, call_id, locked_conversation_id=locked_conversation_id, started=None if at else first
        )
    return attempted


async def _execute_call(
    job: ClaimedJob, call_id: UUID, *, locked_conversation_id: UUID | None, started: StartedCall | HeldCall | None
) -> AttemptedCall | None:
    if started is None:
        started = await in_db(_start, job, call_id, locked_conversation_id=locked_conversation_id)
    if isinstance(started, HeldCall):
        started = await in_db(_start, job, call_id, locked_conversation_id=locked_conversation_id, held=started)
    if not isinstance(started, StartedCall):
        return None
    failpoint("effect.sending_pre_bytes")
    outcome = await _attempt(started)
    failpoint("effect.response_pre_commit")
    return AttemptedCall(call_id, started.effect.conversation_id, outcome, started.approval_context)


def record(job: ClaimedJob, attempted: AttemptedCall) -> None:
    """Record an outcome, whatever has happened to the todo since."""
    with todo_tx(job, conversation_id=attempted.conversation_id) as todo:
        settle_attempt(todo, attempted)


def settle_attempt(todo: Todo, attempted: AttemptedCall, *, run: RunContext | None = None) -> None:
    """Record an outcome in a transaction that has locked the todo and its conversation.

    The run, if given, is as that transaction read it; its call is updated in place.
    """
    loaded = [call for call in run.open_calls if call.pk == attempted.call_id] if run else []
    call = loaded[0] if loaded else _call(attempted.call_id)
    settle.settle(todo, call.step.approval, call, attempted.outcome)


async def _attempt(started: StartedCall) -> Outcome:
    """Execute the call. A tool that raises has an unknown outcome and doesn't end the run."""
    try:
        return await execute(started.effect, started.tool_context)
    except Exception:  # the edge to the tools: any bug of a handler becomes a result that the model and staff see
        log.exception("%s raised.", started.effect.tool)
        return Outcome.unknown(TOOL_CRASHED)


def _start(
    job: ClaimedJob, call_id: UUID, *, locked_conversation_id: UUID | None, held: HeldCall | None = None
) -> StartedCall | HeldCall | None:
    """Start a stored call in its own transaction. With `held` the conversation is locked, and a held call ends."""
    with todo_tx(
        job, conversation_id=held.conversation_id if held else None, locked_conversation_id=locked_conversation_id
    ) as todo:
        call = _call(call_id)
        return start_call(todo, call, approval=_latest_approval(todo, call), held=held)


def start_call(
    todo: Todo, call: TodoCall, *, approval: Approval | None, held: HeldCall | None = None
) -> StartedCall | HeldCall | None:
    """Check the approval again and mark the effect as `sending`, to be committed before any request is sent. None if
    the call can't start now or ever.

    Call it in a transaction that has locked the todo before reading it and `approval`, the approval of its version.
    Returns a HeldCall for a call that must end; calling again with it as `held` ends the call.
    """
    if call.finished_at is not None or todo.status != TodoStatus.IN_PROGRESS or todo.taker:
        return None
    approval_context = load_approval_context(todo)
    try:
        approval = validity.check(todo, approval, context=approval_context)
    except InvalidApproval as void:
        stop_for_review(todo, void)
        return None
    if approval.pk != call.step.approval_id:
        return None
    if _is_plan_changed(call):
        stop_for_review(todo, InvalidApproval(PLAN_CHANGED.format(tool=call.name)))
        return None
    end = _end_instead(todo, call)
    if end is None:
        return _begin_sending(todo, settle.effect_of(call), approval_context)
    if held is None:
        return HeldCall(todo.conversation_id)
    end()
    return None


def _latest_approval(todo: Todo, call: TodoCall) -> Approval | None:
    """The approval of the todo's current version: the call's own unless another has replaced it."""
    approval = call.step.approval
    is_standing = approval.version == todo.version and approval.ended_at is None
    return approval if is_standing else current_approval(todo)


def _is_plan_changed(call: TodoCall) -> bool:
    """True if the ledger's plan differs from the step's decision, or its tool version from the approved one."""
    effect = settle.effect_of(call)
    decided = (call.name, call.arguments, call.step.approval.content["tools"].get(call.name))
    return decided != (effect.tool, effect.arguments, fingerprint_of(effect))


def _end_instead(todo: Todo, call: TodoCall) -> Callable[[], None] | None:
    """A function that ends the call because its worker died, it repeats another, or it exceeds a limit. None if it may
    start.
    """
    effect = settle.effect_of(call)
    if effect.state == EffectState.SENDING:
        if effect.delivery != RetryPolicy.ONCE and effect.attempts < MAX_ATTEMPTS:
            return None
        return partial(settle.fail_call, todo, call, WORKER_DIED)
    earlier = find_repeated(todo, call.step.approval, effect)
    if earlier is not None:
        return partial(settle.hold_back, todo, call, earlier)
    if too_much := why_over_limit(effect):
        return partial(settle.end, todo, call, Outcome.failed(too_much), state=EffectState.FAILED)
    return None


def _begin_sending(todo: Todo, effect: Effect, approval_context: ApprovalContext) -> StartedCall | None:
    if not ledger.begin_sending(effect, callback_hash=callback_hash(effect, definition_of(effect))):
        return None
    return StartedCall(effect, tool_context_of(todo, effect, contact=approval_context.contact), approval_context)


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
_LOCK_REPEAT_KEY = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def find_repeated(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    """The earlier effect that this one repeats, unless staff chose to repeat it. Runs in the transaction that starts
    the effect.

    Any effect of an earlier run of the same todo counts, however old. Other effects count if they do the same within
    the window of their kind: two different texts to one customer, each approved, are no repeat.

    Of two todos that start the same effect at once, the second sees the first. The same holds for a todo and a turn,
    because both lock the conversation.
    """
    if effect.resolved_at is not None:
        return None
    _lock_repeat_key(effect)
    earlier = _from_earlier_runs(todo, approval, effect) or find_duplicate(effect)
    return None if earlier is None or _is_repeat_wanted(earlier, approval) else earlier


def _is_repeat_wanted(earlier: Effect, approval: Approval) -> bool:
    """True if staff chose to repeat the earlier effect, or to execute one that was held back because of it."""
    if str(earlier.pk) in approval.repeats:
        return True
    return bool(approval.repeats) and Effect.objects.filter(pk__in=approval.repeats, repeats=earlier.pk).exists()


def _from_earlier_runs(todo: Todo, approval: Approval, effect: Effect) -> Effect | None:
    if approval.version == 1:
        return None
    same = EARLIER_RUNS(todo.pk, approval.pk, effect.pk, effect.repeat_key, effect.tool, effect.recipient)
    return next(iter(same), None)


def _lock_repeat_key(effect: Effect) -> None:
    if effect.repeat_key:
        _LOCK_REPEAT_KEY(effect.repeat_key)
