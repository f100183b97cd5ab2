"""Checks every API response against the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

SCHEMAS = "#/components/schemas/"
HERE = "urn:api"
FORMATS = FormatChecker(formats=())
FORMS: dict[str, Callable[[str], bool]] = {
    "uuid": lambda text: str(UUID(text)) == text,
    "date-time": lambda text: text.endswith("Z") and datetime.fromisoformat(text).tzinfo is not None,
    "date": lambda text: date.fromisoformat(text).isoformat() == text,
    "uri": lambda text: bool(urlsplit(text).scheme and urlsplit(text).netloc),
}
for name, is_one in FORMS.items():
    # Formats only apply to strings.
    FORMATS.checks(name, raises=ValueError)(lambda one, is_one=is_one: not isinstance(one, str) or is_one(one))


class DocumentedClient(Client):
    """A client that checks every API response against the document."""

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        if request["REQUEST_METHOD"] != "OPTIONS" and response.headers.get("Content-Type") == "application/json":
            route = response.resolver_match.route if response.resolver_match else ""
            found = differences(route, request["REQUEST_METHOD"], response.status_code, response.json())
            assert not found, f"{request['REQUEST_METHOD']} {route}: {found}"
        return response


@cache
def document() -> dict[str, Any]:
    """The document as served."""
    return SchemaGenerator(urlconf="config.urls").get_schema(public=True)  # type: ignore[no-any-return]


def differences(route: str, method: str, status: int, body: Any) -> list[str]:
    """Deviations of a response from the document: an undocumented response, extra or missing fields, values of another
    type. `route` is Django's; routes that aren't in the document have none.
    """
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
    operation = document()["paths"].get(path, {}).get(method.lower())
    if operation is None:
        return []
    answers = operation["responses"]
    answer = answers.get(str(status))
    if answer and "$ref" in answer:
        answer = document()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    if answer is None:
        return [f"{method} {path} answered {status}, which isn't documented."]
    if "content" not in answer or body is None:
        return [] if "content" not in answer and body is None else [f"{method} {path} answered {body!r:.200}."]
    return _said(_validator(json.dumps(answer["content"]["application/json"]["schema"])), body)


def deviations(schema: str, value: Any) -> list[str]:
    """Deviations of a value from a named schema of the document."""
    return _said(_validator(json.dumps({"$ref": SCHEMAS + schema})), value)


def validate(schema: dict[str, Any], value: Any) -> list[str]:
    """Deviations of a value from a schema of the document."""
    return _said(_validator(json.dumps(schema)), value)


def _said(validator: Draft202012Validator, value: Any) -> list[str]:
    """The innermost error at each location."""
    found = [best_match([one]) for one in validator.iter_errors(value)]
    return [f"{one.json_path}: {one.message:.300}" for one in found]


@cache
def _validator(schema: str) -> Draft202012Validator:
    """The validator for a JSON Schema."""
    return Draft202012Validator(_strict(json.loads(schema)), registry=_components(), format_checker=FORMATS)


@cache
def _components() -> Registry[Any]:
    components = {name: _strict(one) for name, one in document()["components"]["schemas"].items()}
    contents = {"$id": HERE, "components": {"schemas": components}}
    return Registry().with_resource(HERE, Resource.from_contents(contents, default_specification=DRAFT202012))


def _strict(schema: Any) -> Any:
    """An OpenAPI 3.0 schema as JSON Schema, without undeclared object fields."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    said = {name: _strict(one) for name, one in schema.items() if name != "nullable"}
    if "$ref" in said:
        said["$ref"] = HERE + said["$ref"]
    if isinstance(said.get("properties"), dict) and "type" in said:
        said.setdefault("additionalProperties", False)
    return {"anyOf": [said, {"type": "null"}]} if schema.get("nullable") is True else said
