"""What happens to every request before anything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers

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


API = "/api/"


class RequestIdMiddleware:
    """Gives every request an id of our own, and every answer the header that names it. A client's id is not taken.

    No answer is taken for what it doesn't say it is, and none that depends on who asks is kept by a browser or on the way,
    unless its view says how long.
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
        return _finished(cast(HttpResponseBase, self._get_response(request)), request)

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        return _finished(await self._get_response(request), request)


def _finished(response: HttpResponseBase, request: HttpRequest) -> HttpResponseBase:
    response[HEADER] = request_id_of(request)
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    if "Cache-Control" not in response.headers and _is_somebodys(response, request):
        add_never_cache_headers(response)
    return response


def _is_somebodys(response: HttpResponseBase, request: HttpRequest) -> bool:
    return request.path.startswith(API) or "Cookie" in response.headers.get("Vary", "")
