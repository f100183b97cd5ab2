"""Schemas of a tool's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tools.engine.definition import ActionType, ToolDefinition, WebhookOptions
from tools.engine.execution.handler import Handler
from tools.engine.registry import builtin_tools
from tools.engine.validation.schema import schema_problems

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


class MalformedTool(ValueError):
    """The tool's definition can't be executed."""


def handler_of(tool: str, definition: ToolDefinition) -> Handler | None:
    """The built-in handler of the tool's event; None if there is none."""
    if definition.action.type is not ActionType.SEND_EVENT:
        return None
    found = builtin_tools().get(tool)
    return found.handler if found else None


def arguments_schema(tool: str, definition: ToolDefinition) -> dict[str, Any] | type[BaseModel] | None:
    """The schema of the arguments to extract; None if the tool needs none. Raises MalformedTool."""
    if definition.action.type is ActionType.SEND_WEBHOOK:
        return webhook_schema(definition.action.webhook)
    handler = handler_of(tool, definition)
    if handler is None or not handler.arguments.model_fields:
        return None
    return handler.arguments


def webhook_schema(options: WebhookOptions) -> dict[str, Any] | None:
    """One closed schema of the parts of a webhook that a model fills in; None without any. Raises MalformedTool."""
    parts = options.generated
    for name, part in parts.items():
        if problems := list(schema_problems(part, path=name)):
            raise MalformedTool(problems[0].message)
    if not parts:
        return None
    return {
        "type": "object",
        "properties": {name: close_schema(part) for name, part in parts.items()},
        "required": list(parts),
        "additionalProperties": False,
    }


def called_schema(options: WebhookOptions) -> dict[str, Any]:
    """The parameters of a webhook that a model calls: the schema of a single part, or one property per part."""
    whole = webhook_schema(options) or NO_PARAMETERS
    parts = whole["properties"]
    return dict(next(iter(parts.values()))) if len(parts) == 1 else whole


def called_parameters(tool: str, definition: ToolDefinition) -> dict[str, Any] | type[BaseModel] | None:
    """The schema of the arguments of a model's call, the same in todos, turns and live calls; None if the tool needs none.

    Raises MalformedTool.
    """
    options = definition.action.webhook if definition.action.type is ActionType.SEND_WEBHOOK else None
    return called_schema(options) if options and options.generated else arguments_schema(tool, definition)


def called_arguments(definition: ToolDefinition, called: Mapping[str, Any]) -> dict[str, Any]:
    """A model's arguments in the form the tool is executed with: a webhook's parts under their names."""
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    parts = list(definition.action.webhook.generated) if is_webhook else []
    return {parts[0]: dict(called)} if len(parts) == 1 else dict(called)


def close_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `additionalProperties: false` by default, so that a model can't add to a request."""
    node = dict(schema)
    if "properties" in node:
        node["properties"] = {name: close_schema(part) for name, part in node["properties"].items()}
        node.setdefault("additionalProperties", False)
    if isinstance(node.get("items"), Mapping):
        node["items"] = close_schema(node["items"])
    return node
