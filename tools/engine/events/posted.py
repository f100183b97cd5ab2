"""Events sent to a conversation through the API, planned as effects of the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from tenancy.write_batch import insert_rows
from tools.engine.catalogue import CUSTOM, CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition
from tools.engine.events.subscribers import event_tools, find_subscription
from tools.engine.execution.handler import Place
from tools.engine.execution.plan import effect_key, plan_effect
from tools.engine.registry import builtin_tools
from tools.engine.validation.names import RESERVED_EVENTS
from tools.models import CustomTool, Effect, EffectOrigin

KIND = "event"
DESCRIPTION = "An event sent through the API."


def plan_posted_event(event: str, payload: Mapping[str, Any], place: Place, *, number: int) -> Effect | None:
    """Plan the delivery of an event in a conversation. The caller queues its job. None if no tool or subscription is for
    the event.

    `number` is the event's in the conversation's log. A tool of the event's name sets whether an approval is needed.
    """
    if event in RESERVED_EVENTS or event in builtin_tools():
        # Ours: the built-in handler of the name would run with the payload as its arguments.
        return None
    tool = event_tools(place.project_id, names=[event]).get(event)
    if tool is None and find_subscription(place.project_id, event) is None:
        return None
    effect = plan_effect(
        _compiled(event, tool),
        place,
        origin=EffectOrigin.EVENT,
        key=effect_key(origin=cast(UUID, place.conversation_id), tool=event, step=number, index=0),
        arguments=payload,
    )
    insert_rows([effect])
    return effect


def _compiled(event: str, tool: CustomTool | None) -> CompiledTool:
    """The event as a tool: the project's own of this name, or one that only its subscriber knows."""
    definition = (
        ToolDefinition.model_validate(tool.definition)
        if tool
        else ToolDefinition(description=DESCRIPTION, use_conversation_history=False)
    )
    return CompiledTool(
        name=event,
        origin=CUSTOM if tool else "",
        why_not="",
        kind=KIND,
        delivery=RetryPolicy.IDEMPOTENT,
        definition=definition,
        version=tool.version if tool else 1,
    )
