"""Execution of one attempt at an effect, from its stored definition."""

from __future__ import annotations

import math

from pydantic import ValidationError

from projects.common.crypto import WrongSecret
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.business_state import read_state
from tools.engine.catalogue import CUSTOM, why_not
from tools.engine.custom.secrets import WebhookSecrets, secrets_of
from tools.engine.definition import ActionType, ToolDefinition, WebhookOptions
from tools.engine.execution.event_delivery import deliver_event
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.schemas import handler_of
from tools.engine.execution.webhook import call_webhook
from tools.engine.registry import builtin_tools
from tools.models import CustomTool, Effect, EffectOrigin


def definition_of(effect: Effect) -> ToolDefinition:
    """The tool as it was when the effect was planned. Raises pydantic.ValidationError."""
    return ToolDefinition.model_validate(effect.definition)


async def execute(effect: Effect, context: ToolContext, *, within_seconds: float = math.inf) -> Outcome:
    """Make one attempt, outside of any transaction. Foreseeable errors and malformed plans are returned as an Outcome.

    A webhook times out after `within_seconds` if its own limit is longer.
    """
    try:
        definition = definition_of(effect)
    except ValidationError as error:
        return Outcome.failed(f"The tool can't be carried out as it was saved: {error.error_count()} mistakes.")
    match definition.action.type:
        case ActionType.SEND_WEBHOOK:
            return await _webhook(effect, definition.action.webhook.within(within_seconds), context)
        case ActionType.SEND_URGENT_MESSAGE:
            return _urgent_message(effect, definition)
        case _:
            return await _event(effect, definition, context)


async def _webhook(effect: Effect, options: WebhookOptions, context: ToolContext) -> Outcome:
    try:
        secrets = await in_db(_secrets, effect, context)
    except WrongSecret:
        return Outcome.failed("The tool's secrets can't be read any more; save them again.")
    return await call_webhook(options, effect.arguments, context, secrets=secrets)


def _secrets(effect: Effect, context: ToolContext) -> WebhookSecrets:
    with tenant_tx(context.organization_id):
        return secrets_of(effect.project_id, effect.tool)


def _urgent_message(effect: Effect, definition: ToolDefinition) -> Outcome:
    """The message is the action; the agent is told it when the outcome is stored."""
    options = definition.action.urgent_message
    told = prefixed(options.prefix, options.message or effect.quote)
    return Outcome.done(told, result={"message": told}, adapter="makegood")


async def _event(effect: Effect, definition: ToolDefinition, context: ToolContext) -> Outcome:
    """Run the tool's handler. An event without one is delivered to its subscriber."""
    handler = handler_of(effect.tool, definition)
    if handler is None:
        return await deliver_event(effect, context)
    try:
        return await handler.execute(effect.arguments, context)
    except ValidationError as error:
        return Outcome.failed(
            f"What was read off the conversation doesn't fit the tool: {error.error_count()} mistakes."
        )


def prefixed(prefix: str, text: str) -> str:
    """An urgent message as the agent reads it: `prefix: text`."""
    return f"{prefix}: {text}" if prefix else text


def why_not_now(effect: Effect, project: Project, *, channel: str) -> str:
    """Return the reason why a planned effect's tool may no longer be used, or "". An edited tool runs as it was planned.

    An event sent through the API that no tool names belongs to its subscriber.
    """
    if effect.tool_origin == CUSTOM:
        row = CustomTool.objects.filter(project=project, name=effect.tool).first()
        if row is None or row.is_removed:
            return f"The tool {effect.tool} was removed."
        return "" if row.is_enabled else f"The tool {effect.tool} was switched off."
    if effect.origin == EffectOrigin.EVENT:
        return ""
    tool = builtin_tools().get(effect.tool)
    if tool is None:
        return f"The tool {effect.tool} was removed."
    closed = why_not(tool, read_state(project, channel=channel))
    return f"The tool {effect.tool} was switched off: {closed}." if closed else ""
