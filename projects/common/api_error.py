"""API errors as exceptions, importable without Django."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

LONGEST_MESSAGE = 1_000
# One message for every 404, so that another tenant's object looks like one that doesn't exist.
NOTHING_HERE = "Not found."


class ApiError(Exception):
    """An error response to the current request."""

    status: ClassVar[int] = 400

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        # A lazy translation becomes text here, in the language of the request.
        self.message = str(message)
        super().__init__(self.message)
        self.code = code
        self.field = field
        self.status_code = status or self.status
        self.headers = dict(headers or {})

    def body(self, *, request_id: str) -> dict[str, Any]:
        """The response body, in the shape shared by all errors."""
        return {
            "error": {
                "code": self.code,
                "message": printable(self.message)[:LONGEST_MESSAGE],
                "field": None if self.field is None else printable(self.field)[:LONGEST_MESSAGE],
                "request_id": request_id,
            }
        }


class Unprocessable(ApiError):
    """The request matches the OpenAPI document, but its content is refused by a rule that the document can't express,
    such as a reference to an object that doesn't exist.
    """

    status = 422


class Conflict(ApiError):
    """The object's state doesn't allow this."""

    status = 409

    def __init__(self, message: str = "", *, code: str = "wrong_state", field: str | None = None) -> None:
        super().__init__(code, message or type(self).__doc__ or "", field=field)


def printable(text: str) -> str:
    """The text with lone surrogates escaped, so that the response is valid UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
