"""Parsing a model's calls. An invalid call becomes an error for the model to read, never an exception."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from llm.structured import Mismatch, parse, parse_object
from llm.types import ToolCall
from projects.api.parsers import check_value
from projects.common.api_error import ApiError
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import handler_of

# Per answer; more calls than this indicate a model that has gone astray.
MAX_CALLS = 10
# Per turn. A customer's request takes one or two calls, and a look-up of each item of an order fits too. Without a
# limit, the three answers of a turn add up to thirty calls, for which the customer waits.
MAX_TURN_CALLS = 12
MAX_ARGUMENTS_LENGTH = 50_000
NOT_OFFERED = "There is no tool {name}. Use one of: {names}."
NO_OBJECT = "The arguments are no JSON object; they may have been cut. Call the tool again with the whole of them."
TOO_MANY = f"At most {MAX_CALLS} calls are carried out in one answer; this one wasn't."
TOO_MANY_IN_TURN = f"At most {MAX_TURN_CALLS} calls are carried out before you answer; this one wasn't. Answer now."


class CallRefused(Exception):
    """A call that isn't executed; the message goes back to the model."""


@dataclass(frozen=True)
class ExcessCall(ToolCall):
    """A call above the limit of its turn. It gets a result, and isn't executed."""


def limit_calls(asked: Sequence[ToolCall], *, room: int) -> tuple[ToolCall, ...]:
    """The calls of an answer, those after the first `room` as excess calls."""
    excess = (ExcessCall(call.id, call.name, call.arguments_json) for call in asked[room:])
    return (*asked[:room], *excess)


def read_call(
    offered: Mapping[str, CompiledTool], asked: ToolCall, *, index: int
) -> tuple[CompiledTool, dict[str, Any]]:
    """The called tool and its validated arguments; unknown arguments are dropped.

    Raises Refused.
    """
    tool = find_offered(offered, asked.name, index=index)
    if isinstance(asked, ExcessCall):
        raise CallRefused(TOO_MANY_IN_TURN)
    return tool, _validated(tool, read_object(asked))


def find_offered(offered: Mapping[str, CompiledTool], name: str, *, index: int) -> CompiledTool:
    """The called tool, if it was offered. Raises Refused."""
    if index >= MAX_CALLS:
        raise CallRefused(TOO_MANY)
    tool = offered.get(name)
    if tool is None:
        shown = storable(name)[:80] or "without a name"
        raise CallRefused(NOT_OFFERED.format(name=shown, names=", ".join(offered) or "none"))
    return tool


def read_object(asked: ToolCall) -> dict[str, Any]:
    """The call's arguments, if they are a storable JSON object. Raises Refused."""
    if len(asked.arguments_json) > MAX_ARGUMENTS_LENGTH:
        raise CallRefused(f"The arguments are longer than {MAX_ARGUMENTS_LENGTH} characters.")
    arguments = asked.arguments() if asked.arguments_json.strip() else {}
    if arguments is None:
        raise CallRefused(NO_OBJECT)
    try:
        check_value(arguments)
    except ApiError as error:
        raise CallRefused(error.message) from error
    return arguments


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which PostgreSQL rejects."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def call_id_of(asked: ToolCall, *, index: int, taken: Sequence[str]) -> str:
    """The model's call id, which the result must name; replaced if two calls share one."""
    given = storable(asked.id)[:100]
    if given and given not in taken:
        return given
    made = (f"{given or 'call'}_{number}" for number in count(index))
    return next(one for one in made if one not in taken)


def _validated(tool: CompiledTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments validated against the schema shown to the model, then by the handler's model. Raises Refused."""
    schema = dict(tool.parameters or {})
    is_closed = schema.get("additionalProperties", False) is False
    known = {name: value for name, value in arguments.items() if not is_closed or name in schema.get("properties", {})}
    try:
        parse_object(json.dumps(known, ensure_ascii=False), schema=schema)
        handler = handler_of(tool.name, tool.definition)
        if handler is None:
            return known
        return parse(json.dumps(known, ensure_ascii=False), output=handler.arguments).model_dump(mode="json")
    except Mismatch as mismatch:
        raise CallRefused(f"The arguments don't fit the tool:\n{mismatch}") from mismatch
