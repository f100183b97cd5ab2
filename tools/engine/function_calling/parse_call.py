"""Reading a model's call: what can't be carried out becomes an error that the model reads, never an exception (L03, L19, W10)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from llm.structured import Mismatch, parse, parse_object
from llm.types import ToolCall
from projects.api.parsers import check_value
from projects.common.api_error import ApiError
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import handler_of

# Of one answer; a model that calls more has gone astray.
MOST_CALLS = 10
LONGEST_ARGUMENTS = 50_000
NOT_OFFERED = "There is no tool {name}. Use one of: {names}."
NO_OBJECT = "The arguments are no JSON object; they may have been cut. Call the tool again with the whole of them."
TOO_MANY = f"At most {MOST_CALLS} calls are carried out in one answer; this one wasn't."


class Refused(Exception):
    """A call that isn't carried out; the text goes back to the model."""


def read_call(
    offered: Mapping[str, CompiledTool], asked: ToolCall, *, index: int
) -> tuple[CompiledTool, dict[str, Any]]:
    """The tool of a model's call and its arguments, as the tool takes them. What it doesn't know is left out (L06, L10).

    Raises Refused.
    """
    tool = find_offered(offered, asked.name, index=index)
    return tool, _fitting(tool, read_object(asked))


def find_offered(offered: Mapping[str, CompiledTool], name: str, *, index: int) -> CompiledTool:
    """The tool that is called, if it is one of those offered (T7). Raises Refused."""
    if index >= MOST_CALLS:
        raise Refused(TOO_MANY)
    tool = offered.get(name)
    if tool is None:
        shown = storable(name)[:80] or "without a name"
        raise Refused(NOT_OFFERED.format(name=shown, names=", ".join(offered) or "none"))
    return tool


def read_object(asked: ToolCall) -> dict[str, Any]:
    """What the model wrote, if it is a JSON object that can be stored. Raises Refused."""
    if len(asked.arguments_json) > LONGEST_ARGUMENTS:
        raise Refused(f"The arguments are longer than {LONGEST_ARGUMENTS} characters.")
    arguments = asked.arguments() if asked.arguments_json.strip() else {}
    if arguments is None:
        raise Refused(NO_OBJECT)
    try:
        check_value(arguments)
    except ApiError as error:
        raise Refused(error.message) from error
    return arguments


def storable(text: str) -> str:
    """A model's text as the database takes it: no NUL, no half of a character."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def call_id_of(asked: ToolCall, *, index: int, taken: Sequence[str]) -> str:
    """The model's own id, which its result has to name; made anew where two calls share one."""
    given = storable(asked.id)[:100]
    if given and given not in taken:
        return given
    made = (f"{given or 'call'}_{number}" for number in count(index))
    return next(one for one in made if one not in taken)


def _fitting(tool: CompiledTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the schema that the model was shown, and then by the tool's own. Raises Refused."""
    schema = dict(tool.parameters or {})
    is_closed = schema.get("additionalProperties", False) is False
    known = {name: value for name, value in arguments.items() if not is_closed or name in schema.get("properties", {})}
    try:
        parse_object(json.dumps(known, ensure_ascii=False), schema=schema)
        handler = handler_of(tool.name, tool.definition)
        if handler is None:
            return known
        return parse(json.dumps(known, ensure_ascii=False), output=handler.arguments).model_dump(mode="json")
    except Mismatch as misfit:
        raise Refused(f"The arguments don't fit the tool:\n{misfit}") from misfit
