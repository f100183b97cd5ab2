"""Turns the model's tool calls into rows with planned effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast
from uuid import UUID

from django.utils import timezone

from conversations.common.contacts import contact_from_fields
from conversations.context.turn_context import TurnContext
from conversations.models import TurnCall, TurnStep
from llm.types import Completion, ToolCall
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import effect_repeat_key
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.limits import recipient_of
from tools.engine.execution.schemas import called_arguments
from tools.engine.function_calling.offer import Offer
from tools.engine.function_calling.parse_call import CallRefused, call_id_of, read_call, storable
from tools.engine.function_calling.results import error_text
from tools.engine.ledger import effect_key
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
    conversation, effect = turn_context.conversation, call.effect
    fields = {field.key: field.value for field in turn_context.fields}
    return ToolContext(
        organization_id=cast(UUID, conversation.organization_id),
        project_id=conversation.project_id,
        effect_id=effect.pk if effect else call.pk,
        key=effect.effect_key if effect else str(call.pk),
        conversation_id=conversation.pk,
        turn_id=turn_context.turn.pk,
        channel=conversation.channel,
        timezone=turn_context.config.timezone,
        at=timezone.now(),
        contact=contact_from_fields(conversation.persona_id, fields),
        business=turn_context.config.business_name,
        shopper=conversation.shopper or {},
        call=_telephony_metadata(conversation.metadata),
    )


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
    conversation = turn_context.conversation
    effect = Effect(
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        turn_id=turn_context.turn.pk,
        origin=EffectOrigin.TURN,
        effect_key=effect_key(origin=turn_context.turn.pk, tool=tool.name, step=call.step.number, index=call.index),
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        quote=call.step.content,
        arguments=called_arguments(tool.definition, call.arguments or {}),
        arranged_at=timezone.now(),
    )
    call.effect = effect
    context = context_of(turn_context, call)
    effect.repeat_key = effect_repeat_key(effect, effect.arguments, context)
    effect.recipient = recipient_of(effect.kind, context.contact)[:254]
    return effect


def _telephony_metadata(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """The telephony metadata of a call conversation, else empty."""
    call = metadata.get("call")
    return call if isinstance(call, Mapping) else {}
