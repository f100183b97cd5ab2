"""Execution of one call: started under a valid approval, executed once, and given its result."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from jobs.failpoints import failpoint
from jobs.lanes import ClaimedJob
from jobs.outages import until_stored
from tenancy.prepared_queries import PreparedQuery
from tenancy.threads import in_db
from todos.approvals import validity
from todos.approvals.validity import InvalidApproval
from todos.content.snapshot import ApprovalContext, fingerprint_of, load_approval_context
from todos.content.versions import current_approval
from todos.executor.run_context import RunContext, todo_tx, tool_context_of
from todos.executor.stop import stop_for_review
from todos.executor.todo_run import TodoRun, effect_of
from todos.models import Approval, Todo, TodoCall, TodoStatus
from tools.engine.execution.effect_run import Start
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.run import execute
from tools.engine.function_calling.attempt import TOOL_CRASHED
from tools.models import Effect

log = logging.getLogger(__name__)

PLAN_CHANGED = "The plan for {tool} has changed since it was decided. Review and approve it again."


@dataclass(frozen=True)
class StartedCall:
    """An effect whose attempt is committed as started, and the context its approval was checked against."""

    effect: Effect
    tool_context: ToolContext
    approval_context: ApprovalContext


@dataclass(frozen=True)
class AttemptedCall:
    """A call after an attempt whose outcome isn't recorded yet, with the context its todo was started with."""

    call_id: UUID
    conversation_id: UUID | None
    outcome: Outcome
    approval_context: ApprovalContext


async def execute_calls(
    job: ClaimedJob, calls: Sequence[UUID], *, conversation_id: UUID | None, first: StartedCall | None = None
) -> AttemptedCall | None:
    """Make one attempt at each due call. A call may end, be postponed, be held back, or find its approval void.

    `conversation_id` is the todo's conversation; `first` is the first call if it has been started. The last attempt is
    returned unrecorded, so that it is recorded in one commit with the next move.
    """
    attempted: AttemptedCall | None = None
    for at, call_id in enumerate(calls):
        if attempted is not None:
            await until_stored(record, job, attempted)
            failpoint("todo.between_effects")
        started = None if at else first
        attempted = await _execute_call(job, call_id, conversation_id=conversation_id, started=started)
    return attempted


async def _execute_call(
    job: ClaimedJob, call_id: UUID, *, conversation_id: UUID | None, started: StartedCall | None
) -> AttemptedCall | None:
    started = started or await in_db(_start, job, call_id, conversation_id=conversation_id)
    if started is None:
        return None
    failpoint("effect.sending_pre_bytes")
    outcome = await _attempt(started)
    failpoint("effect.response_pre_commit")
    return AttemptedCall(call_id, conversation_id, outcome, started.approval_context)


def record(job: ClaimedJob, attempted: AttemptedCall) -> None:
    """Record an outcome, even if the todo has changed since."""
    with todo_tx(job, conversation_id=attempted.conversation_id) as todo:
        settle_attempt(todo, attempted)


def settle_attempt(todo: Todo, attempted: AttemptedCall, *, run: RunContext | None = None) -> None:
    """Record an outcome in a transaction that has locked the todo and its conversation.

    The run, if given, is as that transaction read it; its call is updated in place.
    """
    loaded = [call for call in run.open_calls if call.pk == attempted.call_id] if run else []
    call = loaded[0] if loaded else _call(attempted.call_id)
    TodoRun(todo, call).settle(attempted.outcome)


async def _attempt(started: StartedCall) -> Outcome:
    """Execute the call. A tool that raises has an unknown outcome and doesn't end the run."""
    try:
        return await execute(started.effect, started.tool_context)
    except Exception:  # the edge to the tools: any bug of a handler becomes a result that the model and staff see
        log.exception("%s raised.", started.effect.tool)
        return Outcome.unknown(TOOL_CRASHED)


def _start(job: ClaimedJob, call_id: UUID, *, conversation_id: UUID | None) -> StartedCall | None:
    """Start a stored call in its own transaction."""
    with todo_tx(job, conversation_id=conversation_id) as todo:
        call = _call(call_id)
        return start_call(todo, call, approval=_latest_approval(todo, call))


def start_call(todo: Todo, call: TodoCall, *, approval: Approval | None) -> StartedCall | None:
    """Check the approval again and mark the effect as `sending`, to be committed before any request is sent. None if
    the call can't start now or ever.

    Call it in a transaction that has locked the conversation and the todo before reading it and `approval`, the
    approval of its version.
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
    run = TodoRun(todo, call)
    if (start := run.begin()) is not Start.READY:
        if start is Start.OVER and call.finished_at is None:
            run.close()
        return None
    return StartedCall(
        run.effect, tool_context_of(todo, run.effect, contact=approval_context.contact), approval_context
    )


def _latest_approval(todo: Todo, call: TodoCall) -> Approval | None:
    """The approval of the todo's current version: the call's own unless another has replaced it."""
    approval = call.step.approval
    is_standing = approval.version == todo.version and approval.ended_at is None
    return approval if is_standing else current_approval(todo)


def _is_plan_changed(call: TodoCall) -> bool:
    """True if the ledger's plan differs from the step's decision, or its tool version from the approved one."""
    effect = effect_of(call)
    decided = (call.name, call.arguments, call.step.approval.content["tools"].get(call.name))
    return decided != (effect.tool, effect.arguments, fingerprint_of(effect))


CALLS = PreparedQuery(
    lambda call: TodoCall.objects.select_related("effect", "step__approval").filter(pk=call), kinds=(UUID,)
)


def _call(call_id: UUID) -> TodoCall:
    [call] = CALLS(call_id)
    return call
