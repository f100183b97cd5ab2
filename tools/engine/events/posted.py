"""Events sent to a conversation through the API, planned as effects of the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from tenancy.write_batch import insert_rows
from tools.engine import ledger
from tools.engine.catalogue import CUSTOM
from tools.engine.definition import RetryPolicy, ToolDefinition
from tools.engine.events.subscribers import event_tools, find_subscription
from tools.engine.registry import builtin_tools
from tools.engine.validation.names import RESERVED_EVENTS
from tools.models import CustomTool, Effect, EffectOrigin

KIND = "event"
DESCRIPTION = "An event sent through the API."


def plan_posted_event(
    event: str, payload: Mapping[str, Any], *, project_id: UUID, conversation_id: UUID, number: int
) -> Effect | None:
    """Plan the delivery of an event. The caller queues its job. None if no tool or subscription is for the event.

    `number` is the event's in the conversation's log. A tool of the event's name sets whether an approval is needed.
    """
    if event in RESERVED_EVENTS or event in builtin_tools():
        # Ours: the built-in handler of the name would run with the payload as its arguments.
        return None
    tool = event_tools(project_id, names=[event]).get(event)
    if tool is None and find_subscription(project_id, event) is None:
        return None
    effect = Effect(
        project_id=project_id,
        conversation_id=conversation_id,
        origin=EffectOrigin.EVENT,
        effect_key=ledger.effect_key(origin=conversation_id, tool=event, step=number, index=0),
        tool=event,
        tool_origin=CUSTOM if tool else "",
        tool_version=tool.version if tool else 1,
        kind=KIND,
        delivery=RetryPolicy.IDEMPOTENT,
        definition=_definition_of(tool),
        arguments=dict(payload),
        arranged_at=timezone.now(),
    )
    insert_rows([effect])
    return effect


def _definition_of(tool: CustomTool | None) -> dict[str, Any]:
    definition = (
        ToolDefinition.model_validate(tool.definition)
        if tool
        else ToolDefinition(description=DESCRIPTION, use_conversation_history=False)
    )
    return definition.model_dump(mode="json", by_alias=True)
