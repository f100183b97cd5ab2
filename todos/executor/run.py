"""The run of one approved todo, continued from its stored state.

    1. The job is claimed, the approval checked, and the todo moves to in_progress.
    2. The model decides a step. The step is stored and its first call started, in one commit.
    3. Each call is executed outside of any transaction. The last outcome is committed with the next move.
    4. Steps repeat until the model makes no more calls; then the run ends.

The approval is checked again in each transaction that commits `sending`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils.translation import gettext

from jobs.errors import WrongState
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from jobs.outages import until_stored
from tenancy.threads import in_db
from todos.approvals import validity
from todos.approvals.approve import LANE
from todos.approvals.job_keys import next_attempts
from todos.approvals.validity import InvalidApproval
from todos.content.lifecycle import AGENT, transition
from todos.executor.calls import AttemptedCall, execute_calls, record, settle_attempt
from todos.executor.finish import fail_run, finish
from todos.executor.prompt import ExecuteContext
from todos.executor.run_context import RunContext, load_run, lock_todo, todo_tx
from todos.executor.steps import Step, build_context, store_frozen_step, take_step
from todos.executor.stop import catch_up, is_accepted, stop, stop_for_review
from todos.executor.todo_run import effect_of
from todos.models import Todo, TodoCall, TodoStatus
from todos.models.step import MOST_STEPS


@dataclass(frozen=True)
class NextMove:
    """The next move: the due calls or, if there are none, a request to the model with `context`."""

    run: RunContext
    calls: Sequence[UUID] = ()
    context: ExecuteContext | None = None


def todo_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_todo,
        # Ten model steps with their tool calls, and a minute's wait for an unavailable model.
        deadline=timedelta(minutes=15),
        max_attempts=8,
        lock=lock_subject,
        on_failed=fail_todo,
        on_run_again=refuse_run,
        task="execute_todo",
    )


async def run_todo(job: ClaimedJob) -> None:
    """Continue until the todo ends, returns to review, or waits. Executed effects are never executed again."""
    failpoint("todo.claimed")
    attempted: AttemptedCall | None = None
    while (move := await _next_move(job, attempted)) is not None:
        step = Step(move.calls)
        if move.context is not None:
            step = await take_step(job, move.run, move.context)
        conversation_id = move.run.todo.conversation_id
        attempted = await execute_calls(job, step.calls, conversation_id=conversation_id, first=step.first)


def fail_todo(job: ClaimedJob, reason: str) -> None:
    """End a todo whose job has failed permanently. The lane has locked the todo."""
    fail_run(lock_todo(job.subject_id), reason)


def refuse_run(todo_id: UUID, ordinal: int) -> None:
    """Runs can't be repeated: the todo has to be reviewed and approved again."""
    raise WrongState(gettext("Review the todo again and approve it."))


def lock_subject(todo_id: UUID) -> None:
    """Lock a todo for the rest of the transaction."""
    lock_todo(todo_id)


async def _next_move(job: ClaimedJob, attempted: AttemptedCall | None) -> NextMove | None:
    """The next move after an attempt, whose outcome is recorded even if the decision fails."""
    try:
        move = await in_db(decide_next_move, job, attempted)
    except Exception:
        if attempted is not None:
            await until_stored(record, job, attempted)
        raise
    if attempted is not None:
        failpoint("todo.between_effects")
    return move


def decide_next_move(job: ClaimedJob, attempted: AttemptedCall | None = None) -> NextMove | None:
    """Record the last attempt and decide the next move, in one transaction.

    Ends the job and returns None if nothing is left to do.
    """
    with todo_tx(job, conversation_id=attempted.conversation_id if attempted else None) as todo:
        run = load_run(todo, approval_context=attempted.approval_context if attempted else None)
        if attempted is not None:
            settle_attempt(todo, attempted, run=run)
        run = _prepare_run(todo, run, approval_id=job.cause_id)
        if run is None:
            prove(job, finish=State.SKIPPED, error=f"This todo {TodoStatus(todo.status).predicate}.")
            return None
        open_calls = _still_open(run)
        if due := _due(run, open_calls):
            return NextMove(run, due)
        if not open_calls and not run.has_stopped and len(run.steps) < MOST_STEPS:
            return NextMove(run, context=build_context(run))
        if not open_calls:
            failpoint("todo.last_step_pre_final")
            finish(run)
        prove(job, finish=State.DONE)
        return None


def _prepare_run(todo: Todo, run: RunContext | None, *, approval_id: UUID) -> RunContext | None:
    """The run to continue, or None if nothing may run. The approval is checked when the run starts."""
    if run is None or run.approval.pk != approval_id or todo.status not in validity.RUNNABLE:
        stop(todo, approval_id=approval_id)
        return None
    if todo.status == TodoStatus.APPROVED:
        try:
            validity.check(todo, run.approval, context=run.approval_context)
        except InvalidApproval as void:
            stop_for_review(todo, void)
            return None
        transition(todo, TodoStatus.IN_PROGRESS, what="started", actor=AGENT)
    if run.is_frozen and not run.steps:
        store_frozen_step(run)
        return load_run(todo, approval_context=run.approval_context)
    return run


def _still_open(run: RunContext) -> list[TodoCall]:
    """The calls without a result, after closing those whose effect has ended since."""
    return [call for call in run.open_calls if not catch_up(run.todo, call)]


def _due(run: RunContext, calls: Sequence[TodoCall]) -> list[UUID]:
    """The open calls that wait neither for a callback nor for their next attempt."""
    waiting = next_attempts(run.approval, [effect_of(call) for call in calls])
    return [call.pk for call in calls if not is_accepted(call) and call.effect_id not in waiting]
