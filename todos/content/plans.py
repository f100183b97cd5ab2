"""Validation of a todo's plan: its tool with frozen arguments, its type, and its recipients."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext

from projects.agents.tool_names import unknown_tool_error
from projects.api.parsers import check_value
from projects.common.api_error import ApiError, Unprocessable
from projects.common.numbers import grouped
from projects.models import Project
from todos.content.argument_problems import find_problem
from todos.content.snapshot import compiled_tools, is_bound_to_channels
from todos.models import TodoType
from tools.engine.catalogue import SWITCHED_OFF, CompiledTool
from tools.engine.definition import Trigger
from tools.engine.execution.schemas import MalformedTool, arguments_schema, handler_of

LONGEST_DESCRIPTION = 8_000
LARGEST_ARGUMENTS = 50_000
MOST_RECIPIENTS = 20


def checked_plan(
    project: Project, *, tool: str, arguments: Mapping[str, Any] | None, type: TodoType | None
) -> tuple[str, dict[str, Any] | None]:
    """The tool and its arguments, validated and in the form they are stored. Raises ApiError that names the field."""
    if not tool:
        if arguments:
            raise Unprocessable(
                "invalid_arguments", gettext("arguments: name their tool in `tool`."), field="arguments"
            )
        return "", None
    known = compiled_tools(project)
    require_tool(tool, known)
    if type is not None and tool not in type.tools:
        message = gettext("%(tool)s isn't one of the tools of %(name)s: %(value)s.") % {
            "tool": tool,
            "name": type.name,
            "value": ", ".join(type.tools) or "it has none",
        }
        raise Unprocessable("invalid_tool", message, field="tool")
    return tool, _checked_arguments(known[tool], dict(arguments or {}))


def require_tool(name: str, known: Mapping[str, CompiledTool]) -> None:
    """Raise ApiError unless the named tool can run in a todo. For an unknown name, the error suggests similar ones."""
    if name not in known:
        usable = [other for other, tool in known.items() if Trigger.TASK in tool.moments]
        raise Unprocessable("invalid_tool", unknown_tool_error(name, known=usable), field="tool")
    if problem := tool_problem(known[name], name):
        raise Unprocessable("invalid_tool", problem, field="tool")


def tool_problem(tool: CompiledTool | None, name: str, *, is_planned: bool = False) -> str:
    """The reason why the tool can't run in a todo, as a sentence; empty if it can.

    An effect that a conversation has planned runs regardless of the tool's triggers.
    """
    if tool is None:
        return gettext("Tool %(name)s no longer exists.") % {"name": name}
    if not tool.is_offered and not (is_planned and is_bound_to_channels(tool)):
        return _switched_off(name, tool.why_not)
    if Trigger.TASK not in tool.moments and not is_planned:
        return gettext("Tool %(name)s works only in conversations.") % {"name": name}
    if tool.is_off_in_todos and not is_planned:
        return gettext("Tool %(name)s is switched off for todos.") % {"name": name}
    return ""


def _switched_off(name: str, why: str) -> str:
    if why == SWITCHED_OFF:
        return gettext("Tool %(name)s is switched off.") % {"name": name}
    return gettext("Tool %(name)s is switched off: %(why)s.") % {"name": name, "why": why}


def names_addressee(tool: CompiledTool) -> bool:
    """True if the model chooses the tool's addressee, who must then be one of the todo's recipients."""
    handler = handler_of(tool.name, tool.definition)
    return handler is not None and bool(handler.addressee)


def checked_recipients(addresses: Sequence[Any]) -> list[str]:
    """The addresses without duplicates. Raises ApiError."""
    if isinstance(addresses, str) or len(addresses) > MOST_RECIPIENTS:
        message = gettext("recipients must be a list of at most %(most_recipients)s addresses.") % {
            "most_recipients": MOST_RECIPIENTS
        }
        raise Unprocessable("invalid_recipients", message, field="recipients")
    return list(dict.fromkeys(_checked_address(address) for address in addresses))


def _checked_address(address: Any) -> str:
    try:
        validate_email(address)
    except ValidationError as error:
        message = gettext("recipients: %(dumps)s is not an e-mail address.") % {
            "dumps": json.dumps(str(address)[:100], ensure_ascii=False)
        }
        raise Unprocessable("invalid_recipients", message, field="recipients") from error
    return str(address)


def _checked_arguments(tool: CompiledTool, arguments: dict[str, Any]) -> dict[str, Any]:
    # For arguments from forms and code; API request bodies were checked when they were parsed.
    check_value({"arguments": arguments})
    text = json.dumps(arguments)
    if len(text) > LARGEST_ARGUMENTS:
        message = gettext("arguments have %(text)s characters; the limit is %(largest_arguments)s.") % {
            "text": grouped(len(text)),
            "largest_arguments": grouped(LARGEST_ARGUMENTS),
        }
        raise Unprocessable("invalid_arguments", message, field="arguments")
    try:
        schema = arguments_schema(tool.name, tool.definition)
    except MalformedTool as error:
        raise Unprocessable(
            "invalid_tool", gettext("%(name)s can't run: %(error)s") % {"name": tool.name, "error": error}, field="tool"
        ) from error
    if problem := find_problem(schema, arguments):
        raise Unprocessable("invalid_arguments", problem.sentence, field=problem.where)
    _require_address(tool, arguments)
    return arguments


def _require_address(tool: CompiledTool, arguments: Mapping[str, Any]) -> None:
    """Raise ApiError unless a frozen tool's addressee is an e-mail address."""
    handler = handler_of(tool.name, tool.definition)
    if handler is None or not handler.addressee:
        return
    where = f"arguments.{handler.addressee}"
    try:
        _checked_address(str(arguments.get(handler.addressee, "")).strip())
    except ApiError as error:
        raise Unprocessable("invalid_arguments", error.message.replace("recipients", where, 1), field=where) from error
