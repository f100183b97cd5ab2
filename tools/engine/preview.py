"""Preview of a tool's request, event or message, without sending it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import ActionType
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.run import prefixed
from tools.engine.execution.schemas import arguments_schema
from tools.engine.execution.webhook import build_request
from tools.engine.skills.arguments import ExtractionContext, generate_object_by_schema


@dataclass(frozen=True)
class Preview:
    """`arguments` were extracted from the conversation by a model; `sent` is what would be sent, with secrets masked."""

    action: ActionType
    arguments: Mapping[str, Any]
    sent: Mapping[str, Any]


async def preview(
    client: Client,
    model: ModelSpec,
    *,
    tool: CompiledTool,
    extraction_context: ExtractionContext,
    context: ToolContext,
    secrets: WebhookSecrets,
    record: Recorder,
) -> Preview:
    """Build what the tool would send in this context. Raises LlmError, MalformedTool."""
    schema = arguments_schema(tool.name, tool.definition)
    arguments: dict[str, Any] = {}
    if schema is not None:
        task = f"The tool {tool.name} is about to be used. {tool.definition.description}"
        arguments = await generate_object_by_schema(
            client,
            model,
            schema=schema,
            task=task,
            extraction_context=extraction_context,
            record=record,
            quote=context.quote,
        )
    return Preview(tool.definition.action.type, arguments, _sent(tool, arguments, context, secrets))


def _sent(
    tool: CompiledTool, arguments: Mapping[str, Any], context: ToolContext, secrets: WebhookSecrets
) -> Mapping[str, Any]:
    action = tool.definition.action
    match action.type:
        case ActionType.SEND_WEBHOOK:
            return build_request(action.webhook, arguments, context, secrets=secrets, at=context.at).redacted
        case ActionType.SEND_URGENT_MESSAGE:
            options = action.urgent_message
            return {"message": prefixed(options.prefix, options.message or context.quote)}
        case _:
            return {"event": tool.name, "connector": "system", "arguments": arguments}
