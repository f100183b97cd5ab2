"""The errors of the OpenAPI document: one component for each status, and the statuses of each operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
# By status: the component's name, and its description.
RESPONSES = {
    "400": ("BadRequest", "The request doesn't match this document."),
    "401": ("Unauthorized", "There are no credentials, or they aren't valid."),
    "403": ("Forbidden", "The credentials don't allow this."),
    "404": ("NotFound", "There is no such object in this project."),
    "408": ("TooSlow", "The body didn't arrive in time."),
    "409": ("Conflict", "The object's state doesn't allow this."),
    "413": ("TooLarge", "The body is larger than this endpoint accepts."),
    "415": ("UnsupportedMediaType", "The body isn't JSON, or it is compressed."),
    "422": (
        "Unprocessable",
        "The request matches this document, but a rule that it can't express refuses the content.",
    ),
    "429": ("TooManyRequests", "There were too many requests. `Retry-After` says when to try again."),
    "431": ("HeadersTooLarge", "The headers are too large."),
    "503": ("Unavailable", "The service is unavailable for a moment. `Retry-After` says when to try again."),
}
ALWAYS = ("400", "404", "431", "503")
WITH_CREDENTIALS = ("401", "403", "429")
WITH_WRITES = ("408", "409", "413", "415", "422")


def add_errors(operation: dict[str, Any], *, method: str, needs_credentials: bool) -> None:
    """Add the errors of every such operation, and the shape of those that it describes itself."""
    described = operation["responses"]
    for status, response in described.items():
        if int(status) >= 400:
            response.setdefault("content", CONTENT)
    for status in _statuses(method, needs_credentials=needs_credentials):
        described.setdefault(status, {"$ref": f"#/components/responses/{RESPONSES[status][0]}"})
    operation["responses"] = {status: described[status] for status in sorted(described)}


def _statuses(method: str, *, needs_credentials: bool) -> Iterator[str]:
    yield from ALWAYS
    if needs_credentials:
        yield from WITH_CREDENTIALS
    if method != "GET":
        yield from WITH_WRITES


def add_error_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular hook: add the error's schema and the responses that operations refer to."""
    components = result["components"]
    components.setdefault("schemas", {})["Error"] = ERROR
    components["responses"] = {name: {"description": text, "content": CONTENT} for name, text in RESPONSES.values()}
    return result
