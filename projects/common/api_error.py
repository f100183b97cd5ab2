"""What the API refuses, as exceptions that any floor may raise. No framework is needed to import this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

LONGEST_MESSAGE = 1_000
# One sentence for every 404: what is not yours answers as what never was.
NOTHING_HERE = "There is nothing at this address."


class ApiError(Exception):
    """Something is wrong with this request."""

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
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.status_code = status or self.status
        self.headers = dict(headers or {})

    def body(self, *, request_id: str) -> dict[str, Any]:
        """The one shape of every error (design section 6)."""
        return {
            "error": {
                "code": self.code,
                "message": printable(self.message)[:LONGEST_MESSAGE],
                "field": None if self.field is None else printable(self.field)[:LONGEST_MESSAGE],
                "request_id": request_id,
            }
        }


class Conflict(ApiError):
    """The thing is not in a state that allows this."""

    status = 409

    def __init__(self, message: str = "", *, code: str = "wrong_state", field: str | None = None) -> None:
        super().__init__(code, message or type(self).__doc__ or "", field=field)


def printable(text: str) -> str:
    """The text with lone surrogates spelled out: an answer is UTF-8, whatever the question was."""
    return text.encode("utf-8", "backslashreplace").decode()
