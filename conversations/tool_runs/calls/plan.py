"""Turns the model's tool calls into rows with planned effects."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from conversations.context.turn_context import TurnContext
from conversations.models import TurnCall, TurnStep
from llm.types import Completion, ToolCall
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.plan import effect_context, effect_key, plan_effect
from tools.engine.execution.schemas import called_arguments
from tools.engine.function_calling.offer import Offer
from tools.engine.function_calling.parse_call import CallRefused, call_id_of, read_call, storable
from tools.engine.function_calling.results import error_text
from tools.models import Effect, EffectOrigin


def plan_step(
    turn_context: TurnContext, offer: Offer, completion: Completion, *, number: int
) -> tuple[TurnStep, list[TurnCall]]:
    """Build the step of an answer that calls tools. A call that cannot run gets its error result at once."""
    step = TurnStep(turn=turn_context.turn, number=number, content=storable(completion.text))
    calls: list[TurnCall] = []
    for index, tool_call in enumerate(completion.tool_calls):
        taken = [call.call_id for call in calls]
        calls.append(_plan_call(turn_context, offer, step, tool_call, index=index, taken=taken))
    return step, calls


def context_of(turn_context: TurnContext, call: TurnCall) -> ToolContext:
    """The execution context of a call; none of it comes from the model."""
    place = turn_context.place
    if call.effect is not None:
        return effect_context(call.effect, place)
    return place.context(effect_id=call.pk, key=str(call.pk))


def _plan_call(
    turn_context: TurnContext, offer: Offer, step: TurnStep, tool_call: ToolCall, *, index: int, taken: Sequence[str]
) -> TurnCall:
    call = TurnCall(
        step=step,
        index=index,
        call_id=call_id_of(tool_call, index=index, taken=taken),
        name=storable(tool_call.name)[:120],
        arguments_text=storable(tool_call.arguments_json)[:50_000],
    )
    try:
        tool, call.arguments = read_call(offer.tools, tool_call, index=index)
    except CallRefused as refusal:
        call.result, call.is_error, call.finished_at = error_text(str(refusal)), True, timezone.now()
        return call
    if tool.kind:
        call.effect = _planned_effect(turn_context, tool, call)
    return call


def _planned_effect(turn_context: TurnContext, tool: CompiledTool, call: TurnCall) -> Effect:
    return plan_effect(
        tool,
        turn_context.place,
        origin=EffectOrigin.TURN,
        key=effect_key(origin=turn_context.turn.pk, tool=tool.name, step=call.step.number, index=call.index),
        quote=call.step.content,
        arguments=called_arguments(tool.definition, call.arguments or {}),
    )
