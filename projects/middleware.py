"""What happens to every request before anything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from projects.api.request_id import HEADER, make_request_id, request_id_of


class RequestIdMiddleware:
    """Gives every request an id of our own, and every answer the header that names it. A client's id is not taken."""

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
        return _named(cast(HttpResponseBase, self._get_response(request)), request)

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        return _named(await self._get_response(request), request)


def _named(response: HttpResponseBase, request: HttpRequest) -> HttpResponseBase:
    response[HEADER] = request_id_of(request)
    return response
