"""Structured output: the schema sent to the provider, and the strict parsing of the answer."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as ValidationProblem
from pydantic import BaseModel, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from llm.wire import OutputSchema

Output = TypeVar("Output", bound=BaseModel)

# A model's thoughts before its answer; some servers swallow their beginning.
THOUGHTS = re.compile(r"\s*(?!\{|\[(?!THINK)|`|\s).*?(?:</think(?:ing)?>|\[/THINK\])", re.DOTALL | re.IGNORECASE)
FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?\s*```", re.DOTALL)
MOST_PROBLEMS = 10
LONGEST_SHOWN_ANSWER = 8000


class Mismatch(ValueError):
    """The answer doesn't match the schema. The message says where and why, without quoting the answer.

    `first` is the first problem that a JSON Schema from outside has found.
    """

    def __init__(self, message: str, *, first: ValidationProblem | None = None) -> None:
        super().__init__(message)
        self.first = first


@cache
def schema_of(output: type[BaseModel], *, name: str) -> OutputSchema:
    """The strict JSON schema of an output model.

    It allows no additional properties, requires all properties, and inlines references. Class docstrings are left out.
    Attribute docstrings are included if the model is configured to use them.
    """
    schema = output.model_json_schema()
    definitions = schema.pop("$defs", {})
    for described in (schema, *definitions.values()):
        described.pop("description", None)
    return OutputSchema(name, _strict(schema, definitions=definitions, inside=()))


def _strict(node: Any, *, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions=definitions, inside=inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(node, definitions=definitions, inside=inside)
    strict = {
        key: (
            {name: _strict(part, definitions=definitions, inside=inside) for name, part in value.items()}
            if key == "properties"
            else _strict(value, definitions=definitions, inside=inside)
        )
        for key, value in node.items()
        if key not in ("title", "default")
    }
    if strict.get("type") == "object":
        strict["additionalProperties"] = False
        strict["required"] = list(strict.get("properties", {}))
    return strict


def _inlined(node: dict[str, Any], *, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    name = node["$ref"].rpartition("/")[2]
    if name in inside:
        raise TypeError(f"{name} contains itself, which an output model can't.")
    # Keywords beside a reference come from the attribute's docstring
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return _strict({**copy.deepcopy(definitions[name]), **beside}, definitions=definitions, inside=(*inside, name))


def parse(text: str, *, output: type[Output]) -> Output:
    """Parse an answer strictly: "true" is not a boolean and "7" is not a number. Raises Mismatch."""
    # It would parse, but the database would reject it
    if "\\u0000" in text:
        raise Mismatch("- the answer: contains a NUL character")
    try:
        return output.model_validate_json(_bare_json(text), strict=True)
    except ValidationError as exc:
        problems = exc.errors(include_url=False, include_input=False, include_context=False)
    raise Mismatch("\n".join(_problem_line(problem["loc"], problem["msg"]) for problem in problems[:MOST_PROBLEMS]))


def parse_object(text: str, *, schema: dict[str, Any]) -> dict[str, Any]:
    """Parse an answer by a JSON Schema from outside. Raises Mismatch.

    Optional properties that are null are left out, because models say "unknown" that way. References are not resolved.
    """
    if "\\u0000" in text:
        raise Mismatch("- the answer: contains a NUL character")
    try:
        value = _without_nulls(_require_storable(json.loads(_bare_json(text))), schema)
        validator = Draft202012Validator(schema, registry=Registry())
        problems = sorted(
            validator.iter_errors(value), key=lambda problem: [str(step) for step in problem.absolute_path]
        )
    except Mismatch:
        raise
    except (ValueError, RecursionError):
        raise Mismatch("- the answer: is not JSON") from None
    except Unresolvable as exc:
        raise Mismatch("- the schema: refers to another schema") from exc
    if not isinstance(value, dict):
        raise Mismatch("- the answer: is not an object")
    if problems:
        raise Mismatch(
            "\n".join(_problem_line(tuple(one.absolute_path), _requirement(one)) for one in problems[:MOST_PROBLEMS]),
            first=problems[0],
        )
    return value


def _require_storable(value: Any) -> Any:
    """Return the value if a database can store it. Python also parses NaN, 1e999 and lone surrogates. Raises Mismatch."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        raise Mismatch("- the answer: contains an invalid number or half of a character") from None
    return value


def _without_nulls(value: Any, schema: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(schema, dict):
        return value
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return {
        name: _without_nulls(item, properties.get(name))
        for name, item in value.items()
        if item is not None or name in required or name not in properties
    }


def _requirement(problem: ValidationProblem) -> str:
    """The schema's requirement, without quoting the answer."""
    return f"does not fit {problem.validator}: {json.dumps(problem.validator_value, ensure_ascii=False)[:200]}"


def _problem_line(place: tuple[int | str, ...], message: str) -> str:
    return f"- {'.'.join(str(step) for step in place) or 'the answer'}: {message}"


def _bare_json(text: str) -> str:
    """The JSON of an answer, without thoughts before it and a fence around it."""
    text = THOUGHTS.sub("", text, count=1) if THOUGHTS.match(text) else text
    fenced = FENCED.fullmatch(text.strip())
    return fenced.group(1) if fenced else text


def repair_messages(messages: list[dict[str, Any]], *, text: str, mismatch: Mismatch) -> list[dict[str, Any]]:
    """The messages that show the model its answer and the errors in it."""
    return [
        *messages,
        {"role": "assistant", "content": text[:LONGEST_SHOWN_ANSWER]},
        {
            "role": "user",
            "content": f"That answer does not fit the schema:\n{mismatch}\n"
            "Give the whole answer again as one JSON object that fits it, and nothing else.",
        },
    ]
