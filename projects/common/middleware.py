"""Middleware that adds a request id and default security headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import add_never_cache_headers

from projects.common.request_telemetry import answering
from tenancy.ids import uuid7

HEADER = "X-Request-ID"
API = "/api/"


class RequestIdMiddleware:
    """Gives each request an id of our own, ignoring the client's, and returns it in a response header.

    It also disables content sniffing, sets HSTS over TLS, and disables caching for responses that depend on the user
    unless the view sets its own policy.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        request_id = request.request_id = make_request_id()  # type: ignore[attr-defined]
        if self._is_async:
            return self._answer_async(request)
        with answering(request, request_id=request_id) as seen:
            response = _finish(cast(HttpResponseBase, self._get_response(request)), request)
            seen.status = response.status_code
        return response

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        with answering(request, request_id=request_id_of(request)) as seen:
            response = _finish(await self._get_response(request), request)
            seen.status = response.status_code
        return response


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
    response.headers.setdefault("Referrer-Policy", settings.SECURE_REFERRER_POLICY)
    if settings.HSTS_SECONDS and request.is_secure():
        response.headers.setdefault("Strict-Transport-Security", _hsts())
    if "Cache-Control" not in response.headers and _is_private(response, request):
        add_never_cache_headers(response)
    return response


def _hsts() -> str:
    flags = {"includeSubDomains": settings.HSTS_SUBDOMAINS, "preload": settings.HSTS_PRELOAD}
    return "; ".join([f"max-age={settings.HSTS_SECONDS}", *(name for name, is_on in flags.items() if is_on)])


def _is_private(response: HttpResponseBase, request: HttpRequest) -> bool:
    return request.path.startswith(API) or "Cookie" in response.headers.get("Vary", "")
