"""Results of calls: the text returned to the model, stored in the transaction that ends the effect."""

from __future__ import annotations

import logging

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from todos.models import Todo, TodoCall, TodoStep
from tools.engine.function_calling.results import result_of
from tools.models import Effect, EffectState

_END = Prepared("""
with ended as (
    update todos_todocall set result = %s, is_error = %s, finished_at = statement_timestamp()
    where organization_id = %s and id = %s),
step as (
    update todos_todostep set finished_at = statement_timestamp()
    where organization_id = %s and id = %s and not exists (
        select 1 from todos_todocall c
        where c.organization_id = %s and c.step_id = %s and c.id <> %s and c.finished_at is null))
select statement_timestamp()
""")

log = logging.getLogger(__name__)


def end_call(todo: Todo, call: TodoCall, effect: Effect) -> None:
    """Store the result of the call's effect, in the transaction that ended it. Errors are logged."""
    is_error = effect.state in (EffectState.FAILED, EffectState.UNKNOWN, EffectState.CANCELLED)
    if is_error:
        log.error("%s of todo %s is %s.", effect.tool, todo.pk, effect.state)
    store_result(call, result_of(effect), is_error=is_error)


def store_result(call: TodoCall, result: str, *, is_error: bool) -> None:
    """End a stored call, and the step with its last call."""
    organization_id = current_organization_id()
    rows = _END(
        result,
        is_error,
        organization_id,
        call.pk,
        organization_id,
        call.step_id,
        organization_id,
        call.step_id,
        call.pk,
    )
    call.result, call.is_error, call.finished_at = result, is_error, rows[0][0]


def reopen_call(call: TodoCall) -> None:
    """Clear the result of a call, so that it is executed again."""
    TodoCall.objects.filter(pk=call.pk).update(result="", is_error=False, finished_at=None)
    TodoStep.objects.filter(pk=call.step_id).update(finished_at=None)
