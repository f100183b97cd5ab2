"""What a model is told of a call: the tool's own words, an error as a string, or that nobody knows (L19, T8)."""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection

from projects.tenancy import current_organization_id
from todos.models import Todo, TodoCall, TodoStep
from tools.models import Effect, EffectState

_END = """
with ended as (
    update todos_todocall set result = %(result)s, is_error = %(is_error)s, finished_at = statement_timestamp()
    where organization_id = %(organization)s and id = %(call)s)
update todos_todostep set finished_at = statement_timestamp()
where organization_id = %(organization)s and id = %(step)s and not exists (
    select 1 from todos_todocall c
    where c.organization_id = %(organization)s and c.step_id = %(step)s and c.id <> %(call)s and c.finished_at is null)
"""

log = logging.getLogger(__name__)

UNKNOWN = "It isn't known whether this happened, so it isn't done again. A colleague looks into it. Go on with the rest, if there is any."


def error_text(reason: str) -> str:
    """An error as the model reads it."""
    return f"Error: {reason}"


def result_of(effect: Effect) -> str:
    """An effect's end as the model reads it. Nothing but a done effect is told as a success (T9)."""
    if effect.state == EffectState.DONE:
        return effect.told or f"{effect.tool} was done."
    if effect.state == EffectState.UNKNOWN:
        return UNKNOWN
    if effect.state == EffectState.HELD:
        return effect.told
    return error_text(effect.error or effect.told or "It was not done.")


def end_call(todo: Todo, call: TodoCall, effect: Effect) -> None:
    """Give a call the result of its effect, in the transaction of that end. Errors are logged (L19)."""
    is_error = effect.state in (EffectState.FAILED, EffectState.UNKNOWN, EffectState.CANCELLED)
    if is_error:
        log.error("%s of todo %s is %s: %s", effect.tool, todo.pk, effect.state, effect.error)
    put_result(call, result_of(effect), is_error=is_error)


def put_result(call: TodoCall, result: str, *, is_error: bool) -> None:
    """End a stored call, and with the last of a step's calls the step."""
    values: dict[str, Any] = {"call": call.pk, "step": call.step_id, "result": result, "is_error": is_error}
    with connection.cursor() as cursor:
        cursor.execute(_END, {"organization": current_organization_id(), **values})


def reopen_call(call: TodoCall) -> None:
    """Let a call that had its result be carried out once more."""
    TodoCall.objects.filter(pk=call.pk).update(result="", is_error=False, finished_at=None)
    TodoStep.objects.filter(pk=call.step_id).update(finished_at=None)
