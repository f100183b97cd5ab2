"""The id by which one request is found again in the logs."""

from __future__ import annotations

from typing import Any

from tenancy.ids import uuid7

HEADER = "X-Request-ID"


def make_request_id() -> str:
    """32 hexadecimal digits that begin with the time."""
    return uuid7().hex


def request_id_of(request: Any) -> str:
    """The id that the middleware gave this request; a request that came around it gets one now."""
    given = getattr(request, "request_id", None)
    if given is None:
        given = request.request_id = make_request_id()
    return str(given)
