"""What may stand in a todo's plan: its one tool with frozen arguments, its type, and the addresses it may write to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import BaseModel

from llm.structured import Mismatch, parse, parse_object
from projects.agents.tool_names import unknown_tool_error
from projects.api.parsers import check_value
from projects.common.api_error import ApiError
from projects.models import Project
from todos.content.snapshot import compiled_tools
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
    """The tool and its arguments as they are kept. Raises ApiError that names the field."""
    if not tool:
        if arguments:
            raise ApiError("invalid_arguments", "arguments: name the tool that they are for.", field="arguments")
        return "", None
    known = compiled_tools(project)
    require_tool(tool, known)
    if type is not None and tool not in type.tools:
        message = f"{tool} isn't one of the tools of {type.name}: {', '.join(type.tools) or 'it has none'}."
        raise ApiError("invalid_tool", message, field="tool")
    return tool, _checked_arguments(known[tool], dict(arguments or {}))


def require_tool(name: str, known: Mapping[str, CompiledTool]) -> None:
    """Raise ApiError unless this is a tool that can carry a todo out; for a name of none, with those that may have been meant."""
    if name not in known:
        usable = [other for other, tool in known.items() if Trigger.TASK in tool.moments]
        raise ApiError("invalid_tool", unknown_tool_error(name, known=usable), field="tool")
    if problem := tool_problem(known[name], name):
        raise ApiError("invalid_tool", problem, field="tool")


def tool_problem(tool: CompiledTool | None, name: str) -> str:
    """Why a tool can't carry a todo out, as a sentence; empty when it can."""
    if tool is None:
        return f"Tool {name} no longer exists."
    if not tool.is_offered:
        return f"Tool {name} is switched off{'' if tool.why_not == SWITCHED_OFF else f': {tool.why_not}'}."
    if Trigger.TASK not in tool.moments:
        return f"Tool {name} works inside a conversation only."
    return ""


def names_addressee(tool: CompiledTool) -> bool:
    """Whether the model names whom the tool writes to, so that it writes to nobody but the todo's recipients (D23)."""
    handler = handler_of(tool.name, tool.definition)
    return handler is not None and bool(handler.addressee)


def checked_recipients(addresses: Sequence[Any]) -> list[str]:
    """Addresses that a tool may write to, each once. Raises ApiError."""
    if isinstance(addresses, str) or len(addresses) > MOST_RECIPIENTS:
        message = f"recipients: a list of at most {MOST_RECIPIENTS} addresses."
        raise ApiError("invalid_recipients", message, field="recipients")
    return list(dict.fromkeys(_checked_address(address) for address in addresses))


def _checked_address(address: Any) -> str:
    try:
        validate_email(address)
    except ValidationError as error:
        message = f"recipients: {json.dumps(str(address)[:100], ensure_ascii=False)} is no e-mail address."
        raise ApiError("invalid_recipients", message, field="recipients") from error
    return str(address)


def _checked_arguments(tool: CompiledTool, arguments: dict[str, Any]) -> dict[str, Any]:
    # Of a form, or a program; a body of the API was looked at as it was read.
    check_value({"arguments": arguments})
    text = json.dumps(arguments)
    if len(text) > LARGEST_ARGUMENTS:
        message = f"arguments have {len(text):,} characters; the limit is {LARGEST_ARGUMENTS:,}."
        raise ApiError("invalid_arguments", message, field="arguments")
    try:
        wanted = arguments_schema(tool.name, tool.definition)
        _demand_fit(wanted, text, arguments)
    except MalformedTool as error:
        raise ApiError("invalid_tool", f"{tool.name} can't be carried out: {error}", field="tool") from error
    except Mismatch as error:
        place, _, said = str(error).splitlines()[0].removeprefix("- ").partition(": ")
        where = "arguments" if place == "the answer" else f"arguments.{place}"
        raise ApiError("invalid_arguments", f"{where}: {said}", field=where) from error
    _demand_address(tool, arguments)
    return arguments


def _demand_address(tool: CompiledTool, arguments: Mapping[str, Any]) -> None:
    """Raise ApiError unless whom a frozen tool writes to is an address."""
    handler = handler_of(tool.name, tool.definition)
    if handler is None or not handler.addressee:
        return
    where = f"arguments.{handler.addressee}"
    try:
        _checked_address(str(arguments.get(handler.addressee, "")).strip())
    except ApiError as error:
        raise ApiError("invalid_arguments", error.message.replace("recipients", where, 1), field=where) from error


def _demand_fit(wanted: dict[str, Any] | type[BaseModel] | None, text: str, arguments: Mapping[str, Any]) -> None:
    """Raises Mismatch for arguments that the tool doesn't take: a plan holds nothing that nobody reads."""
    if isinstance(wanted, dict):
        parse_object(text, schema=wanted)
        return
    known = wanted.model_fields if wanted is not None else {}
    if extra := [name for name in arguments if name not in known]:
        raise Mismatch(f"- {extra[0]}: the tool doesn't take it")
    if wanted is not None:
        parse(text, output=wanted)
