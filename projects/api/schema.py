"""OpenAPI generation: authentication, errors, request bodies, idempotency keys and links between operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from rest_framework import serializers

from projects.api.openapi_types import schema_of
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import response_types

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "field", "request_id"],
            "properties": {
                "code": {"type": "string", "description": "Machine-readable code."},
                "message": {"type": "string", "description": "Human-readable: what is wrong, and where."},
                "field": {
                    "type": "string",
                    "nullable": True,
                    "description": "Dotted path in the body, or the parameter's name.",
                },
                "request_id": {"type": "string", "description": "The same as in the header X-Request-ID."},
            },
        }
    },
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "1 to 255 visible ASCII characters. For a day, the same key and body return the stored response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[\x21-\x7e]+$"},
}
# The response field used in the created object's URL, by path parameter; `id` for all others.
ID_FIELDS = {"name": "name", "slug": "slug"}


class Schema(AutoSchema):
    """AutoSchema that reads response types from a handler's return annotation, beside `extend_schema`.

    It adds the common error, the query parameters and the Idempotency-Key header where an operation takes one. Strict
    serializers are marked as rejecting unknown fields.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        operation["responses"].setdefault("default", {"description": "The error."})
        for status, answer in operation["responses"].items():
            if not status.isdigit() or int(status) >= 400:
                answer.setdefault("content", {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}})
        if getattr(self._handler(), "is_idempotent", False):
            _add_parameter(operation, IDEMPOTENCY_KEY)
        return operation

    def get_response_serializers(self) -> Any:
        return {} if response_types(self._handler()) else super().get_response_serializers()

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        answers = {code: schema_of(payload, self) for code, payload in response_types(self._handler()).items()}
        respond = self._get_response_for_code
        said = {str(code): respond(shape, str(code)) for code, shape in answers.items()}  # type: ignore[no-untyped-call]
        for status, more in super()._get_response_bodies(direction).items():
            # A JSON response may also have other content types.
            content = {**said.get(status, {}).get("content", {}), **more.get("content", {})}
            said[status] = {**more, "content": content} if content else more
        return said

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *self._queries()]

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        kind = type(force_instance(serializer))  # type: ignore[no-untyped-call]
        said = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "request" and issubclass(kind, StrictSerializer):
            said["additionalProperties"] = False
        if kind.__doc__ is None:
            # Otherwise it would inherit the docstring of the base serializer.
            said.pop("description", None)
        return said

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        said = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if isinstance(field, TextField):
            said["maxLength"] = field.longest
        if isinstance(field, serializers.CharField) and not field.allow_blank and said.get("type") == "string":
            said.setdefault("minLength", 1)
        return said

    def _queries(self) -> Any:
        return getattr(self.view, "queries", {}).get(self.method, ())

    def _handler(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)


def add_error_component(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular hook: add one Error component that every operation refers to."""
    result["components"].setdefault("schemas", {})["Error"] = ERROR
    return result


def add_created_links(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular hook: link each operation that creates an object to the operations on that object."""
    for path, operations in result["paths"].items():
        made = operations.get("post", {}).get("responses", {}).get("201")
        if made is not None and (links := dict(_links_below(path, result["paths"]))):
            made["links"] = links
    return result


def _links_below(path: str, paths: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """OpenAPI links to the operations at `path/{one}` and directly below it, if that parameter is all their URL needs."""
    below = re.compile(rf"{re.escape(path)}/{{(\w+)}}(/[^{{}}]+)?")
    for other, operations in paths.items():
        if found := below.fullmatch(other):
            value = f"$response.body#/{ID_FIELDS.get(found[1], 'id')}"
            for operation in operations.values():
                name = operation["operationId"]
                yield name, {"operationId": name, "parameters": {found[1]: value}}


def _add_parameter(operation: dict[str, Any], parameter: dict[str, Any]) -> None:
    parameters = operation.setdefault("parameters", [])
    if all(existing["name"] != parameter["name"] for existing in parameters):
        parameters.append(parameter)


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "projects.api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A project's API key, `mg_…`."}


class MemberScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "projects.api.authentication.MemberAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The session of a signed-in member, with the headers `X-Project` and `X-CSRFToken`.",
        }
