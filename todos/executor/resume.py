"""Late results and decisions of staff about a todo's effects, and how its run continues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast
from uuid import UUID

from django.utils.translation import gettext

from jobs.errors import WrongState
from notices.models import NoticeKind
from todos.approvals.digest import notify_of
from todos.approvals.job_keys import queue_continuation
from todos.content.lifecycle import Actor, transition
from todos.executor.finish import final_status, finish
from todos.executor.results import reopen_call
from todos.executor.run_context import load_run, lock_todo
from todos.executor.todo_run import TodoRun, effect_of
from todos.hooks import effect_changed, todo_changed
from todos.models import Todo, TodoCall, TodoStatus
from tools.engine import effect_decisions, ledger
from tools.engine.execution.outcome import Outcome
from tools.engine.receipts import ReceiptReport
from tools.models import Effect, EffectState

COLLEAGUE = "a colleague"
CHECKED = "A colleague has checked it: it was not done."
CONTINUABLE = (TodoStatus.IN_PROGRESS, TodoStatus.NEEDS_ATTENTION)
AWAITING = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
CLOSED = (TodoStatus.COMPLETED, TodoStatus.REJECTED, TodoStatus.EXPIRED, TodoStatus.CANCELLED)
NO_MORE = "Its todo {state}. Create another todo for this."
RUN_IS_OVER = "The run of its todo has ended. Review the todo again."


def belongs_to_todo(effect: Effect) -> bool:
    """True if the effect is executed by a todo's run."""
    return TodoCall.objects.filter(effect=effect).exists()


def why_not_repeatable(effects: Iterable[UUID]) -> Mapping[UUID, str]:
    """The reason why an effect can't be executed again, by id, for each effect whose todo's run is over."""
    effect_ids = list(effects)
    reasons: dict[UUID, str] = {}
    for todo in Todo.objects.filter(effect__in=effect_ids).exclude(status__in=CONTINUABLE):
        reasons[cast(UUID, todo.effect_id)] = _why_over(todo)
    calls = TodoCall.objects.filter(effect__in=effect_ids).select_related("step__approval", "step__todo")
    newest = {cast(UUID, call.effect_id): call for call in calls.order_by("step__approval__version")}
    for effect_id, call in newest.items():
        if not _is_running(call.step.todo, call):
            reasons[effect_id] = _why_over(call.step.todo)
    return reasons


def settle_callback(effect: Effect, outcome: Outcome) -> None:
    """Settle the callback of an asynchronous tool and continue the run. A second callback changes nothing."""
    todo, call = _locked(effect)
    if is_effect_final(call):
        return
    TodoRun(todo, call).settle(outcome)
    _continue(todo, call, answer="called_back", by=None)


def settle_receipt(effect: Effect, report: ReceiptReport) -> bool:
    """Move the receipt of an effect's message forward. Return False if nothing changed.

    A completed todo stays completed; operators are notified if its message failed.
    """
    todo, call = _locked(effect)
    run = TodoRun(todo, call)
    is_changed = run.report(report)
    if is_changed and run.effect.state == EffectState.FAILED and todo.status == TodoStatus.COMPLETED:
        notify_of(todo, NoticeKind.TODO_FAILED)
    return is_changed


def resolve(effect: Effect, *, happened: bool, by: UUID | None) -> Effect:
    """Record staff's answer whether an unknown effect happened.

    If it did not, it is executed again while the run lasts; a todo under review executes its own effect with the next
    approval; otherwise the effect fails. Raises WrongState.
    """
    todo, call = _locked(effect)
    current = effect_of(call)
    if happened:
        effect_decisions.confirm(current, by=by)
        TodoRun(todo, call).close()
        _continue(todo, call, answer="resolved", by=by)
    elif _is_running(todo, call):
        effect_decisions.send_again(current, by=by)
        _reopen(todo, call, answer="resolved", by=by)
    elif current.pk == todo.effect_id and todo.status in AWAITING:
        # The pending approval executes the effect; a rejection cancels it.
        effect_decisions.send_again(current, by=by)
        TodoRun(todo, call).close()
    else:
        _require_unknown(current)
        TodoRun(todo, call).end(Outcome.failed(CHECKED), state=EffectState.FAILED)
    return current


def release(effect: Effect, *, by: UUID | None) -> Effect:
    """Release a held repeat on staff's decision. Raises WrongState, also if the todo's run is over."""
    todo, call = _locked(effect)
    current = effect_of(call)
    if not _is_running(todo, call):
        raise WrongState(_why_over(todo))
    effect_decisions.release(current, by=by)
    _reopen(todo, call, answer="released", by=by)
    return current


def is_effect_final(call: TodoCall) -> bool:
    """True if the outcome of the call's effect is final."""
    return effect_of(call).state not in (*ledger.OPEN, EffectState.UNKNOWN)


def _locked(effect: Effect) -> tuple[Todo, TodoCall]:
    """Lock the todo and return it with the newest call that executes the effect."""
    calls = TodoCall.objects.select_related("effect", "step__approval")
    found = calls.filter(effect=effect).order_by("-step__approval__version")
    todo = lock_todo(found[0].step.todo_id)
    return todo, found.all()[0]


def _is_running(todo: Todo, call: TodoCall) -> bool:
    """True if the run that the call is part of may continue."""
    approval = call.step.approval
    return todo.status in CONTINUABLE and todo.version == approval.version and approval.ended_at is None


def _why_over(todo: Todo) -> str:
    status = TodoStatus(todo.status)
    return NO_MORE.format(state=status.predicate) if status in CLOSED else RUN_IS_OVER


def _reopen(todo: Todo, call: TodoCall, *, answer: str, by: UUID | None) -> None:
    reopen_call(call)
    effect_changed.send(todo, effect_of(call))
    _continue(todo, call, answer=answer, by=by)


def _continue(todo: Todo, call: TodoCall, *, answer: str, by: UUID | None) -> None:
    """Queue the rest of a run that isn't over. A run that needed attention and has nothing left is concluded."""
    if not _is_running(todo, call):
        return
    run = load_run(todo)
    if run is None:
        return
    if todo.status == TodoStatus.IN_PROGRESS or run.open_calls:
        if todo.status == TodoStatus.NEEDS_ATTENTION:
            transition(todo, TodoStatus.IN_PROGRESS, what="resumed", actor=_actor(by))
        queue_continuation(todo, run.approval, effect_of(call), answer=answer)
        return
    _conclude(todo, by=by)


def _conclude(todo: Todo, *, by: UUID | None) -> None:
    """Complete a todo that needed attention, or update the reason why it still does."""
    run = load_run(todo)
    if run is None:
        return
    status, reason = final_status(run)
    if status == TodoStatus.COMPLETED:
        finish(run, actor=_actor(by))
        return
    Todo.objects.filter(pk=todo.pk).update(reason=reason[:500])
    todo.refresh_from_db()
    todo_changed.send(todo, "needs_attention")


def _actor(by: UUID | None) -> Actor:
    return Actor(COLLEAGUE, by)


def _require_unknown(effect: Effect) -> None:
    if effect.state != EffectState.UNKNOWN:
        raise WrongState(
            gettext("Only an unknown effect can be resolved; this one is %(value)s.")
            % {"value": EffectState(effect.state).value}
        )
