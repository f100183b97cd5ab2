"""Runs that may not continue: their todo returns to review or expires, or their open calls end."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext_noop

from todos.approvals.validity import InvalidApproval
from todos.content.lifecycle import AGENT
from todos.content.versions import time_of
from todos.executor.results import store_result
from todos.executor.todo_run import TodoRun, effect_of
from todos.models import Todo, TodoCall, TodoStatus
from todos.services import expire_todo, return_to_review
from tools.engine import ledger
from tools.engine.execution.outcome_policy import WORKER_DIED
from tools.models import EffectState

NO_CALLBACK = gettext_noop("The tool accepted the request, but no result has arrived.")
STOPPED = "The todo {status}."


def stop_for_review(todo: Todo, void: InvalidApproval) -> None:
    """Return the locked todo to review, or expire it, because no approval is valid for what would run."""
    if void.is_expired and todo.status == TodoStatus.APPROVED:
        expire_todo(todo)
    else:
        return_to_review(todo, reason=void.reason, actor=AGENT)


def stop(todo: Todo, *, approval_id: UUID) -> None:
    """End the open calls of an approval whose run is over, except started ones that wait for a callback."""
    reason = STOPPED.format(status=TodoStatus(todo.status).predicate)
    calls = TodoCall.objects.select_related("effect").filter(step__approval_id=approval_id, finished_at=None)
    for call in calls.order_by("step__number", "index"):
        _end_call(todo, call, reason)


def catch_up(todo: Todo, call: TodoCall) -> bool:
    """Close a call whose effect has ended or whose callback is overdue. Return False if it is still open."""
    effect = effect_of(call)
    if effect.state not in ledger.OPEN:
        TodoRun(todo, call).close()
    elif is_accepted(call) and is_overdue(todo, call):
        TodoRun(todo, call).fail(NO_CALLBACK)
    else:
        return False
    return True


def is_accepted(call: TodoCall) -> bool:
    """True if the tool accepted the latest attempt and will answer later."""
    effect = effect_of(call)
    is_of_newest = effect.accepted_at is not None and (
        effect.started_at is None or effect.accepted_at >= effect.started_at
    )
    return effect.state == EffectState.SENDING and is_of_newest


def is_overdue(todo: Todo, call: TodoCall) -> bool:
    """True if an accepted attempt's callback is overdue."""
    accepted_at = effect_of(call).accepted_at
    return accepted_at is not None and accepted_at + ledger.CALLBACK_TIMEOUT <= time_of(todo)


def _end_call(todo: Todo, call: TodoCall, reason: str) -> None:
    effect = effect_of(call)
    if catch_up(todo, call) or is_accepted(call):
        return
    if effect.state == EffectState.SENDING:
        TodoRun(todo, call).fail(WORKER_DIED)
    elif effect.pk == todo.effect_id:
        # The planned effect stays open for the next approval, or until the flow that planned it gives up.
        store_result(call, reason, is_error=True)
    elif not TodoRun(todo, call).cancel(reason):
        TodoRun(todo, call).close()
