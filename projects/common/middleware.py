"""Middleware that adds a request id and default security headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers

from tenancy.ids import uuid7

HEADER = "X-Request-ID"
API = "/api/"


class RequestIdMiddleware:
    """Gives each request an id of our own, ignoring the client's, and returns it in a response header.

    It also disables content sniffing, and disables caching for responses that depend on the user unless the view sets
    its own policy.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        request.request_id = make_request_id()  # type: ignore[attr-defined]
        if self._is_async:
            return self._answer_async(request)
        return _finish(cast(HttpResponseBase, self._get_response(request)), request)

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        return _finish(await self._get_response(request), request)


def make_request_id() -> str:
    """32 hexadecimal digits, ordered by time."""
    return uuid7().hex


def request_id_of(request: Any) -> str:
    """The request's id; one is made for a request that bypassed the middleware."""
    given = getattr(request, "request_id", None)
    if given is None:
        given = request.request_id = make_request_id()
    return str(given)


def _finish(response: HttpResponseBase, request: HttpRequest) -> HttpResponseBase:
    response[HEADER] = request_id_of(request)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    if "Cache-Control" not in response.headers and _is_private(response, request):
        add_never_cache_headers(response)
    return response


def _is_private(response: HttpResponseBase, request: HttpRequest) -> bool:
    return request.path.startswith(API) or "Cookie" in response.headers.get("Vary", "")
