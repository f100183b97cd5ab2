"""Execution of one attempt at an effect, from its stored definition."""

from __future__ import annotations

import math

from pydantic import ValidationError

from projects.common.crypto import WrongSecret
from telemetry.tracing import Attributes, in_span
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.custom.secrets import WebhookSecrets, secrets_of
from tools.engine.definition import ActionType, ToolDefinition, WebhookOptions
from tools.engine.execution.event_delivery import deliver_event
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.schemas import handler_of
from tools.engine.execution.webhook import call_webhook
from tools.models import Effect


def definition_of(effect: Effect) -> ToolDefinition:
    """The tool as it was when the effect was planned. Raises pydantic.ValidationError."""
    return ToolDefinition.model_validate(effect.definition)


async def execute(effect: Effect, context: ToolContext, *, within_seconds: float = math.inf) -> Outcome:
    """Make one attempt, outside of any transaction. Foreseeable errors and malformed plans are returned as an Outcome.

    A webhook times out after `within_seconds` if its own limit is longer.
    """
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": effect.tool,
        "makegood.effect.id": str(effect.pk),
        "makegood.effect.kind": effect.kind,
        "makegood.effect.attempt": effect.attempts,
    }
    with in_span(f"execute_tool {effect.tool}", attributes=attributes):
        return await _execute(effect, context, within_seconds=within_seconds)


async def _execute(effect: Effect, context: ToolContext, *, within_seconds: float) -> Outcome:
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
        secrets = await in_db(_secrets, effect, options, context)
    except WrongSecret:
        return Outcome.failed("The tool's secrets can't be read any more; save them again.")
    return await call_webhook(options, effect.arguments, context, secrets=secrets)


def _secrets(effect: Effect, options: WebhookOptions, context: ToolContext) -> WebhookSecrets:
    with tenant_tx(context.organization_id):
        return secrets_of(effect.project_id, effect.tool).for_url(options.url)


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
