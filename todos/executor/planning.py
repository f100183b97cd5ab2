"""Plans of a step: model calls or frozen calls become planned effects, stored before anything is executed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from llm.structured import Mismatch, parse, parse_object
from llm.types import ToolCall
from tenancy.write_batch import WriteBatch
from todos.content.snapshot import recipients_of
from todos.executor.run_context import RunContext
from todos.models import TodoCall, TodoStep
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.plan import effect_context, effect_key, identify, plan_effect
from tools.engine.execution.schemas import (
    MalformedTool,
    arguments_schema,
    called_arguments,
    called_parameters,
    handler_of,
)
from tools.engine.function_calling.parse_call import CallRefused, call_id_of, find_offered, read_object, storable
from tools.engine.function_calling.results import error_text
from tools.models import Effect, EffectOrigin, EffectState

NOT_APPROVED = "{address} is not an approved recipient. A colleague has to review it."
NO_ADDRESSEE = "{name} is empty. Use one of the approved recipients."
NOT_RUN = "Not executed: the todo returns to review."


class UnapprovedAddress(CallRefused):
    """A call that would write to an unapproved address."""


@dataclass(frozen=True)
class Plan:
    """The calls of a step. `to_review` is the reason why none is executed and the todo returns to review, or ""."""

    calls: Sequence[TodoCall]
    to_review: str = ""


def plan_calls(run: RunContext, step: TodoStep, tool_calls: Iterable[ToolCall]) -> Plan:
    """The calls of a model's step. A call that can't be executed gets its result at once."""
    calls, to_review = list[TodoCall](), ""
    for index, one in enumerate(tool_calls):
        call = TodoCall(
            step=step, index=index, name=storable(one.name)[:120], arguments_text=storable(one.arguments_json)
        )
        call.call_id = call_id_of(one, index=index, taken=[other.call_id for other in calls])
        try:
            call.arguments = read_object(one)
            _plan(run, call, tool=find_offered(run.tools, call.name, index=call.index))
        except CallRefused as refusal:
            refuse(call, str(refusal))
            to_review = to_review or (str(refusal) if isinstance(refusal, UnapprovedAddress) else "")
        calls.append(call)
    if to_review:
        for call in calls:
            call.effect = None
            if call.finished_at is None:
                refuse(call, NOT_RUN)
    return Plan(calls, to_review)


def plan_frozen(run: RunContext, step: TodoStep) -> Plan:
    """The one approved call: the todo's planned effect, or its tool with frozen arguments."""
    todo = run.todo
    call = TodoCall(step=step, index=0, call_id="frozen", name=todo.tool, arguments=dict(todo.arguments or {}))
    if todo.effect is not None:
        _refresh_repeat_key(run, todo.effect)
        call.name, call.arguments, call.effect = todo.effect.tool, dict(todo.effect.arguments), todo.effect
    call.arguments_text = json.dumps(call.arguments, ensure_ascii=False)
    if call.effect is None:
        try:
            _plan(run, call, tool=find_offered(run.tools, call.name, index=call.index), is_frozen=True)
        except CallRefused as refusal:
            refuse(call, str(refusal))
    return Plan([call])


def store(plan: Plan, writes: WriteBatch) -> None:
    """Add a plan and its new effects to the batch."""
    writes.insert([call.effect for call in plan.calls if call.effect is not None and call.effect._state.adding])
    writes.insert(plan.calls)


def refuse(call: TodoCall, reason: str) -> None:
    """End an unstored call with the reason why it is not executed."""
    call.result, call.is_error, call.finished_at = error_text(reason), True, call.step.started_at


def _plan(run: RunContext, call: TodoCall, *, tool: CompiledTool, is_frozen: bool = False) -> None:
    """Give the call its planned effect. Raises CallRefused."""
    call.arguments = _parse_arguments(tool, call, is_frozen=is_frozen)
    handler = handler_of(tool.name, tool.definition)
    address = str(call.arguments.get(handler.addressee, "")).strip() if handler and handler.addressee else ""
    if handler and handler.addressee and not address:
        raise CallRefused(NO_ADDRESSEE.format(name=handler.addressee))
    if address and not is_frozen and not _is_approved(address, recipients_of(run.todo)):
        raise UnapprovedAddress(NOT_APPROVED.format(address=storable(address)[:254]))
    call.effect = plan_effect(
        tool,
        run.place,
        origin=EffectOrigin.TODO,
        key=effect_key(origin=run.approval.pk, tool=tool.name, step=call.step.number, index=call.index),
        quote=run.todo.quote,
        arguments=call.arguments,
        addressee=address,
    )


def _refresh_repeat_key(run: RunContext, effect: Effect) -> None:
    """Recompute the repeat key and recipient of a planned effect: arguments or contact may have changed since it was
    planned.
    """
    if effect.state != EffectState.PLANNED:
        return
    with suppress(ValidationError):  # an invalid definition is reported when the effect runs
        identify(effect, effect_context(effect, run.place))
    Effect.objects.filter(pk=effect.pk).update(repeat_key=effect.repeat_key, recipient=effect.recipient)


def _parse_arguments(tool: CompiledTool, call: TodoCall, *, is_frozen: bool) -> dict[str, Any]:
    """The arguments in the form the tool is executed with. Frozen ones have it already. Unknown arguments of built-in
    tools are dropped. Raises CallRefused.
    """
    text = json.dumps(call.arguments, ensure_ascii=False)
    try:
        if is_frozen:
            return _parse(arguments_schema(tool.name, tool.definition), text)
        return called_arguments(tool.definition, _parse(called_parameters(tool.name, tool.definition), text))
    except MalformedTool as error:
        raise CallRefused(str(error)) from error
    except Mismatch as misfit:
        raise CallRefused(f"The arguments don't fit the tool:\n{misfit}") from misfit


def _parse(wanted: Mapping[str, Any] | type[BaseModel] | None, text: str) -> dict[str, Any]:
    if wanted is None:
        return {}
    if isinstance(wanted, type):
        return parse(text, output=wanted).model_dump(mode="json")
    return parse_object(text, schema=dict(wanted))


def _is_approved(address: str, recipients: Sequence[str]) -> bool:
    return address.casefold() in {one.strip().casefold() for one in recipients}
