"""The operations of the OpenAPI document, as the page shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

JSON = "application/json"
# Phrases of names that are written otherwise.
TITLES = {"custom-tools": "Custom tools", "todo-types": "Todo types", "tool-results": "Results of tools"}


@dataclass(frozen=True)
class Field:
    """A parameter or a property of a request body."""

    name: str
    place: str
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class Answer:
    """A documented response. `example` is its body as text; empty if it has none."""

    status: str
    description: str
    example: str


@dataclass(frozen=True)
class Operation:
    """One operation, with its request as a curl command."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    fields: list[Field]
    request: str
    answers: list[Answer]
    errors: list[Answer]


@dataclass(frozen=True)
class Group:
    """The operations of one resource."""

    name: str
    title: str
    operations: list[Operation]


def read_reference(document: Mapping[str, Any]) -> list[Group]:
    """The operations grouped by resource, in the document's order."""
    every = [
        (operation["tags"][0], _operation(document, path, method, operation))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    ordered = sorted(every, key=lambda pair: pair[0])
    return [
        Group(name, TITLES.get(name, name.replace("-", " ").capitalize()), [one for _, one in found])
        for name, found in groupby(ordered, key=lambda pair: pair[0])
    ]


def _operation(document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> Operation:
    answers = [_answer(document, status, answer) for status, answer in operation["responses"].items()]
    content = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        fields=[*_parameters(document, operation), *_properties(document, content.get("schema", {}))],
        request=_curl(f"{path}{_query(operation)}", method, content.get("example")),
        answers=[answer for answer in answers if answer.status < "400"],
        errors=[answer for answer in answers if answer.status >= "400"],
    )


def _parameters(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[Field]:
    for one in operation.get("parameters", ()):
        schema = one.get("schema", {})
        is_required = bool(one.get("required"))
        yield Field(one["name"], one["in"], _type_of(document, schema), is_required, one.get("description", ""))


def _properties(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Field]:
    body = _resolved(document, schema)
    for name, one in body.get("properties", {}).items():
        description = one.get("description") or _resolved(document, one).get("description", "")
        yield Field(name, "body", _type_of(document, one), name in body.get("required", ()), description)


def _answer(document: Mapping[str, Any], status: str, answer: Mapping[str, Any]) -> Answer:
    found = _resolved(document, answer)
    contents = found.get("content", {})
    example = "" if status >= "400" else "\n\n".join(_text(one["example"]) for one in contents.values())
    return Answer(status, found.get("description", ""), example)


def _type_of(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A type in words, such as `string, one of: open, closed`."""
    found = _resolved(document, schema)
    if "enum" in found:
        return f"one of: {', '.join(str(one) for one in found['enum'] if one != '')}"
    if found.get("type") == "array":
        return f"list of {_type_of(document, found['items'])}"
    kind = found.get("format") or found.get("type") or "any"
    return f"{kind} or null" if schema.get("nullable") else str(kind)


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(parts := schema.get("allOf", ())) == 1:
        schema = parts[0]
    if "$ref" not in schema:
        return schema
    found: Any = document
    for name in schema["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return _resolved(document, found)


def _query(operation: Mapping[str, Any]) -> str:
    """The query parameters of a valid request, as variables of the path: those required, and those with an example."""
    query = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
    found = [one["name"] for one in query if one.get("required") or "examples" in one]
    return f"?{'&'.join(f'{name}={{{name}}}' for name in found)}" if found else ""


def _curl(path: str, method: str, example: Any) -> str:
    address = re.sub(r"{(\w+)}", lambda found: f"${found[1].upper()}", path)
    verb = "" if method == "get" else f" -X {method.upper()}"
    command = f'curl -s{verb} "$BASE{address}" -H "$AUTH"'
    if example is None:
        return command
    body = _text(example).replace("'", "'\\''")
    return f"""{command} -H "$JSON" \\\n  -d '{body}'"""


def _text(example: Any) -> str:
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
