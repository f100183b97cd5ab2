"""From what a model called, or staff froze, to calls with planned effects: decided and stored before anything happens (T6)."""

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
from tools.engine.execution.deduplication import effect_repeat_key
from tools.engine.execution.limits import recipient_of
from tools.engine.execution.schemas import MalformedTool, arguments_schema, handler_of
from tools.engine.function_calling.parse_call import CallRefused, call_id_of, find_offered, read_object, storable
from tools.engine.function_calling.results import error_text
from tools.engine.ledger import effect_key
from tools.models import Effect, EffectOrigin, EffectState

NOT_APPROVED = "{address} isn't one of the recipients that were approved. A colleague has to look at it."
NOBODY = "{name} is empty: name one of the recipients that were approved."
NOT_RUN = "Not carried out: the todo goes back to review."


class NotApproved(CallRefused):
    """A call that would write to an address that nobody has approved (D23)."""


@dataclass(frozen=True)
class Plan:
    """A step's calls. `to_review` says why nothing of it is carried out and the todo goes back to review; else ""."""

    calls: Sequence[TodoCall]
    to_review: str = ""


def plan_calls(work: RunContext, step: TodoStep, asked: Iterable[ToolCall]) -> Plan:
    """The calls of a model's step. What can't be carried out has its result at once (L19)."""
    calls, to_review = list[TodoCall](), ""
    for index, one in enumerate(asked):
        call = TodoCall(
            step=step, index=index, name=storable(one.name)[:120], arguments_text=storable(one.arguments_json)
        )
        call.call_id = call_id_of(one, index=index, taken=[other.call_id for other in calls])
        try:
            call.arguments = read_object(one)
            _plan(work, call, tool=find_offered(work.tools, call.name, index=call.index))
        except CallRefused as refusal:
            refuse(call, str(refusal))
            to_review = to_review or (str(refusal) if isinstance(refusal, NotApproved) else "")
        calls.append(call)
    if to_review:
        for call in calls:
            call.effect = None
            if call.finished_at is None:
                refuse(call, NOT_RUN)
    return Plan(calls, to_review)


def plan_frozen(work: RunContext, step: TodoStep) -> Plan:
    """The one call that was approved as it stands: the planned effect of a commitment, or a tool with its arguments."""
    todo = work.todo
    call = TodoCall(step=step, index=0, call_id="frozen", name=todo.tool, arguments=dict(todo.arguments or {}))
    if todo.effect is not None:
        _compare_anew(work, todo.effect)
        call.name, call.arguments, call.effect = todo.effect.tool, dict(todo.effect.arguments), todo.effect
    call.arguments_text = json.dumps(call.arguments, ensure_ascii=False)
    if call.effect is None:
        try:
            _plan(work, call, tool=find_offered(work.tools, call.name, index=call.index), is_frozen=True)
        except CallRefused as refusal:
            refuse(call, str(refusal))
    return Plan([call])


def store(plan: Plan, writes: WriteBatch) -> None:
    """Let a plan be put down, with the effects that are new in it."""
    writes.insert([call.effect for call in plan.calls if call.effect is not None and call.effect._state.adding])
    writes.insert(plan.calls)


def refuse(call: TodoCall, reason: str) -> None:
    """Give a call that isn't stored yet its result: it was not carried out, and why."""
    call.result, call.is_error, call.finished_at = error_text(reason), True, call.step.started_at


def _plan(work: RunContext, call: TodoCall, *, tool: CompiledTool, is_frozen: bool = False) -> None:
    """Give the call its planned effect. Raises Refused."""
    call.arguments = _fitting(tool, call)
    handler = handler_of(tool.name, tool.definition)
    address = str(call.arguments.get(handler.addressee, "")).strip() if handler and handler.addressee else ""
    if handler and handler.addressee and not address:
        raise CallRefused(NOBODY.format(name=handler.addressee))
    if address and not is_frozen and not _is_approved(address, recipients_of(work.todo)):
        raise NotApproved(NOT_APPROVED.format(address=storable(address)[:254]))
    effect = Effect(
        project_id=work.todo.project_id,
        conversation_id=work.todo.conversation_id,
        origin=EffectOrigin.TODO,
        effect_key=effect_key(origin=work.approval.pk, tool=tool.name, step=call.step.number, index=call.index),
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        quote=work.todo.quote,
        arguments=call.arguments,
        arranged_at=work.now,
    )
    context = work.tool_context(effect)
    effect.repeat_key = effect_repeat_key(effect, effect.arguments, context)
    effect.recipient = (address.lower() or recipient_of(effect.kind, context.contact))[:254]
    call.effect = effect


def _compare_anew(work: RunContext, effect: Effect) -> None:
    """What was edited or filled in since it was arranged is what it is the same as, and whom it goes to (E6, T1)."""
    if effect.state != EffectState.PLANNED:
        return
    context = work.tool_context(effect)
    with suppress(ValidationError):  # of a definition that can't be carried out, which says so itself
        effect.repeat_key = effect_repeat_key(effect, effect.arguments, context)
    effect.recipient = recipient_of(effect.kind, context.contact)[:254]
    Effect.objects.filter(pk=effect.pk).update(repeat_key=effect.repeat_key, recipient=effect.recipient)


def _fitting(tool: CompiledTool, call: TodoCall) -> dict[str, Any]:
    """The arguments as the tool takes them: what it doesn't know is left out of a built-in tool's (L10). Raises Refused."""
    text = json.dumps(call.arguments, ensure_ascii=False)
    try:
        return _read(arguments_schema(tool.name, tool.definition), text)
    except MalformedTool as error:
        raise CallRefused(str(error)) from error
    except Mismatch as misfit:
        raise CallRefused(f"The arguments don't fit the tool:\n{misfit}") from misfit


def _read(wanted: Mapping[str, Any] | type[BaseModel] | None, text: str) -> dict[str, Any]:
    if wanted is None:
        return {}
    if isinstance(wanted, type):
        return parse(text, output=wanted).model_dump(mode="json")
    return parse_object(text, schema=dict(wanted))


def _is_approved(address: str, recipients: Sequence[str]) -> bool:
    return address.casefold() in {one.strip().casefold() for one in recipients}
