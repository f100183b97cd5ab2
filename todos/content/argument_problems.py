"""Problems of a todo's arguments, in words for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from llm.structured import Mismatch, parse, parse_object
from projects.common.translation import lazy

# By keyword of JSON Schema. A keyword with several values has a sentence for each, by value.
SENTENCES: Mapping[str, str] = {
    "required": lazy("%(where)s is missing."),
    "additionalProperties": lazy("%(where)s isn’t a field of this tool. Remove it."),
    "enum": lazy("%(where)s must be one of these: %(value)s."),
    "const": lazy("%(where)s must be %(value)s."),
    "minimum": lazy("%(where)s must be at least %(value)s."),
    "maximum": lazy("%(where)s must be at most %(value)s."),
    "exclusiveMinimum": lazy("%(where)s must be more than %(value)s."),
    "exclusiveMaximum": lazy("%(where)s must be less than %(value)s."),
    "minLength": lazy("%(where)s is too short. Minimum length: %(value)s."),
    "maxLength": lazy("%(where)s is too long. Maximum length: %(value)s."),
    "minItems": lazy("%(where)s has too few entries. Minimum: %(value)s."),
    "maxItems": lazy("%(where)s has too many entries. Maximum: %(value)s."),
    "pattern": lazy("%(where)s doesn’t have the right form. Expected: %(value)s."),
    "type string": lazy("%(where)s must be text."),
    "type integer": lazy("%(where)s must be a whole number."),
    "type number": lazy("%(where)s must be a number."),
    "type boolean": lazy("%(where)s must be true or false."),
    "type array": lazy("%(where)s must be a list, such as [1, 2]."),
    "type object": lazy('%(where)s must be a group of fields, such as {"name": "Ada"}.'),
}
OTHERWISE = lazy("%(where)s isn’t a value that this tool takes.")


class ArgumentProblem(NamedTuple):
    """The dotted path of what is wrong, and a sentence that names it."""

    where: str
    sentence: str


def find_problem(
    schema: dict[str, Any] | type[BaseModel] | None, arguments: Mapping[str, Any]
) -> ArgumentProblem | None:
    """The first problem of the arguments, of which the tool may ignore none; None if they fit."""
    text = json.dumps(arguments)
    model = schema if isinstance(schema, type) else None
    wanted = schema.model_json_schema() if isinstance(schema, type) else schema or {"type": "object"}
    try:
        parse_object(text, schema={**wanted, "additionalProperties": False})
        if model is not None:
            parse(text, output=model)
    except Mismatch as error:
        return _problem(error)
    return None


def _problem(error: Mismatch) -> ArgumentProblem:
    if error.first is not None:
        return _worded(_innermost(error.first))
    path, _, problem = str(error).splitlines()[0].removeprefix("- ").partition(": ")
    where = _joined(() if path == "the answer" else (path,))
    return ArgumentProblem(where, f"{where}: {problem}")


def _innermost(problem: Any) -> Any:
    """The problem inside a choice of schemas: that of the first which is more than null."""
    while problem.context:
        chosen = (one for one in problem.context if one.schema.get("type") != "null")
        problem = next(chosen, problem.context[0])
    return problem


def _worded(problem: Any) -> ArgumentProblem:
    rule, wanted = str(problem.validator), problem.validator_value
    where = _joined((*problem.absolute_path, *_named_by(problem)))
    if rule == "minLength" and not problem.instance:
        rule = "required"
    kind = f"type {wanted[0] if isinstance(wanted, list) else wanted}" if rule == "type" else rule
    values = wanted if isinstance(wanted, list) else [wanted]
    shown = ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values)
    return ArgumentProblem(where, str(SENTENCES.get(kind, OTHERWISE)) % {"where": where, "value": shown[:300]})


def _named_by(problem: Any) -> tuple[str, ...]:
    """The field that is missing or unknown. Its group is the place of the problem."""
    if problem.validator == "required":
        return next((name,) for name in problem.validator_value if name not in problem.instance)
    if problem.validator == "additionalProperties":
        known = problem.schema.get("properties", {})
        return next((name,) for name in problem.instance if name not in known)
    return ()


def _joined(steps: tuple[Any, ...]) -> str:
    return ".".join(("arguments", *(str(step) for step in steps)))
