"""OpenAPI generation: authentication, errors, request bodies, idempotency keys and links between operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework import serializers

from projects.api.openapi_errors import add_errors
from projects.api.openapi_examples import summary_of
from projects.api.openapi_types import pattern_schema, schema_of
from projects.api.serializers import VISIBLE, DocumentField, StrictSerializer, TextField
from projects.api.typed_responses import response_types

IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "1 to 255 visible ASCII characters. For a day, the same key and body return the stored response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[\x21-\x7e]+$"},
}
# An empty schema would allow null.
NOT_NULL = [
    {"type": "object", "additionalProperties": {}},
    {"type": "array", "items": {}},
    *({"type": name} for name in ("string", "number", "boolean")),
]
# The response field used in the created object's URL, by path parameter; `id` for all others.
ID_FIELDS = {"name": "name", "slug": "slug"}


class Schema(AutoSchema):
    """AutoSchema that reads response types from a handler's return annotation, beside `extend_schema`.

    It adds the errors, the query parameters and the Idempotency-Key header where an operation takes one. Strict
    serializers are marked as rejecting unknown fields.
    """

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        needs_credentials = bool(self.view.get_authenticators())
        add_errors(operation, method=self.method, needs_credentials=needs_credentials)
        if getattr(self._handler(), "is_idempotent", False):
            _add_parameter(operation, IDEMPOTENCY_KEY)
        return operation

    def get_summary(self) -> str:
        return str(super().get_summary() or summary_of(self.get_operation_id(), self.get_description()))

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

    def _get_request_body(self, direction: Any = "request") -> Any:
        body = super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        if body and isinstance(self.get_request_serializer(), PolymorphicProxySerializer):
            # No field is required in every form, but a form is.
            body["required"] = True
        return body

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        kind = type(force_instance(serializer))  # type: ignore[no-untyped-call]
        said = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "request" and issubclass(kind, StrictSerializer):
            said["additionalProperties"] = False
            said |= {"anyOf": list(kind.alternatives)} if kind.alternatives else {}
        if kind.__doc__ is None:
            # Otherwise it would inherit the docstring of the base serializer.
            said.pop("description", None)
        return said

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        if isinstance(field, DocumentField):
            return schema_of(field.hint, self, direction="request")
        said = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if isinstance(field, serializers.JSONField) and not field.allow_null:
            said["anyOf"] = NOT_NULL
        if isinstance(field, serializers.DecimalField):
            # drf-spectacular's own pattern takes a text without a digit.
            said["pattern"] = _decimal_pattern(field)
        if isinstance(field, TextField):
            said["maxLength"] = field.longest
            said |= pattern_schema(field.form) if field.form else {}
        if isinstance(field, serializers.CharField) and not field.allow_blank and said.get("type") == "string":
            said.setdefault("minLength", 1)
            if "format" not in said and not isinstance(field, serializers.RegexField):
                said.setdefault("pattern", VISIBLE)
        return said

    def _queries(self) -> Any:
        return [_with_empty(one) for one in getattr(self.view, "queries", {}).get(self.method, ())]

    def _handler(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)


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


def _decimal_pattern(field: serializers.DecimalField) -> str:
    places, digits = field.decimal_places or 0, field.max_digits or 0
    return rf"^-?(?:\d{{1,{digits - places}}}(?:\.\d{{0,{places}}})?|\.\d{{1,{places}}})$"


def _with_empty(parameter: OpenApiParameter) -> OpenApiParameter:
    """The parameter, with an empty value among its choices, which is ignored."""
    if not parameter.enum:
        return parameter
    documented = copy(parameter)
    documented.enum = [*parameter.enum, ""]
    return documented


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
