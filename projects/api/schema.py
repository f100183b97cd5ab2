"""What OpenAPI says of every view: how to sign in, and what an error looks like."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "field", "request_id"],
            "properties": {
                "code": {"type": "string", "description": "For programs."},
                "message": {"type": "string", "description": "For people: what is wrong, and where."},
                "field": {
                    "type": "string",
                    "nullable": True,
                    "description": "Dotted path in the body, or a parameter.",
                },
                "request_id": {"type": "string", "description": "Also in the header X-Request-ID."},
            },
        }
    },
}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "1 to 255 visible ASCII characters. The same key and body get the first answer again for a day.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


class Schema(AutoSchema):
    """Adds our error to every operation, what its address may ask, and the header to those that take an Idempotency-Key."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        content = {"application/json": {"schema": ERROR}}
        operation["responses"].setdefault("default", {"description": "What went wrong.", "content": content})
        if getattr(self._handler(), "is_idempotent", False):
            _add_parameter(operation, IDEMPOTENCY_KEY)
        return operation

    def get_override_parameters(self) -> list[Any]:
        queries = getattr(self.view, "queries", {})
        return [*super().get_override_parameters(), *queries.get(self.method, ())]

    def _handler(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)


def _add_parameter(operation: dict[str, Any], parameter: dict[str, Any]) -> None:
    parameters = operation.setdefault("parameters", [])
    if all(standing["name"] != parameter["name"] for standing in parameters):
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
            "description": "A signed-in member's browser, with the headers `X-Project` and `X-CSRFToken`.",
        }
