"""Summaries and examples of every operation in the OpenAPI document, made from the document itself.

A summary is the first clause of the handler's docstring. An example follows its schema, with the values of
`example_values`, so that a new operation has both without further work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from projects.api.example_values import BODIES, FORMATS, SUMMARIES, VALUES

Document = dict[str, Any]

COMPONENTS = "#/components/schemas/"
JSON = "application/json"
STREAM_EXAMPLES: Mapping[str, Any] = {
    "text/event-stream": {"event": "token", "data": '{"turn": "0199f0c2", "attempt": 1, "offset": 0, "text": "Your"}'},
    "application/octet-stream": "Starters\nOlives, 4\n",
    "application/zip": "PK",
    "application/x-ndjson": '{"turns": 1, "considered": 20}\n',
}
# Where a docstring's first clause ends. An abbreviation's period isn't followed by a space.
CLAUSE_END = re.compile(r"[,:;]\s|\.(?:\s|$)|\n\n")
THIRD_PERSON = re.compile(r"^([A-Z]\w*?)(?:(?<=ss|sh|ch)es|(?<![su])s)\b")
LARGEST_DEPTH = 7


def summary_of(operation_id: str, description: str) -> str:
    """The first clause of a description, in the imperative: `Creates a conversation, …` is `Create a conversation`."""
    if operation_id in SUMMARIES:
        return SUMMARIES[operation_id]
    clause = " ".join(CLAUSE_END.split(description.strip(), maxsplit=1)[0].split())
    return THIRD_PERSON.sub(r"\1", clause)


def add_examples(result: Document, **_: Any) -> Document:
    """drf-spectacular hook: an example of each operation's request and of each response that isn't an error."""
    schemas = result.get("components", {}).get("schemas", {})
    for operations in result["paths"].values():
        for operation in operations.values():
            _add_to(operation, schemas)
    return result


def _add_to(operation: Document, schemas: Mapping[str, Document]) -> None:
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        if kind != JSON:
            content["example"] = STREAM_EXAMPLES[kind]
            continue
        name = operation["operationId"]
        content["example"] = (
            BODIES[name] if name in BODIES else Examples(schemas, is_request=True).of(content["schema"])
        )
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            for kind, content in response.get("content", {}).items():
                content["example"] = STREAM_EXAMPLES.get(kind) or Examples(schemas).of(content["schema"])


class Examples:
    """Examples of the schemas of one document. Those of requests leave out optional fields without a known value."""

    def __init__(self, schemas: Mapping[str, Document], *, is_request: bool = False) -> None:
        self.schemas = schemas
        self.is_request = is_request

    def of(self, schema: Document, *, owner: str = "", name: str = "", depth: int = 0) -> Any:
        """An example of a schema, which is the property `name` of the component `owner`."""
        for key in (f"{owner}.{name}", name):
            if key in VALUES and self._fits(VALUES[key], schema):
                return VALUES[key]
        if schema.get("nullable") and (name in VALUES or depth > 2):
            return None
        return self._made(schema, owner=owner, name=name, depth=depth)

    def _made(self, schema: Document, *, owner: str, name: str, depth: int) -> Any:
        if reference := schema.get("$ref"):
            component = reference.removeprefix(COMPONENTS)
            return self._made(self.schemas[component], owner=component, name="", depth=depth)
        for keyword in ("allOf", "anyOf", "oneOf"):
            # The alternatives of an object that has properties of its own say which of them are required.
            if keyword in schema and "properties" not in schema:
                return self.of(schema[keyword][0], owner=owner, name=name, depth=depth)
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                return self._object(schema, owner=owner, depth=depth)
            case "array":
                return self._array(schema, owner=owner, name=name, depth=depth)
            case "string":
                return FORMATS.get(schema.get("format", ""), "…")
            case "boolean":
                return schema.get("default", True)
            case "integer" | "number":
                return max(1, schema.get("minimum", 1))
        return "…"

    def _object(self, schema: Document, *, owner: str, depth: int) -> Document:
        required = schema.get("required", ())
        return {
            name: self.of(one, owner=owner, name=name, depth=depth + 1)
            for name, one in schema.get("properties", {}).items()
            if name in required or not self.is_request or self._is_known(owner, name)
        }

    def _array(self, schema: Document, *, owner: str, name: str, depth: int) -> list[Any]:
        if depth > LARGEST_DEPTH and not schema.get("minItems"):
            return []
        return [self.of(schema["items"], owner=owner, name=name, depth=depth + 1)]

    def _is_known(self, owner: str, name: str) -> bool:
        return any(VALUES.get(key) is not None for key in (f"{owner}.{name}", name))

    def _fits(self, value: Any, schema: Document) -> bool:
        """True if a value of the catalogue is of the schema's type."""
        if reference := schema.get("$ref"):
            return self._fits(value, self.schemas[reference.removeprefix(COMPONENTS)])
        if value is None:
            return bool(schema.get("nullable"))
        if parts := schema.get("allOf") or schema.get("anyOf") or schema.get("oneOf"):
            return any(self._fits(value, part) for part in parts)
        if "enum" in schema:
            return value in schema["enum"]
        if isinstance(value, str) and schema.get("format"):
            return schema["format"] not in FORMATS or value == FORMATS[schema["format"]] or schema["format"] == "uri"
        return schema.get("type") in (None, *TYPES[type(value)])


TYPES: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    int: ("integer", "number"),
    float: ("number",),
    bool: ("boolean",),
    dict: ("object",),
    list: ("array",),
}
