"""Middleware that answers an exception of a view with a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware


def answers_exceptions(answer: Callable[[HttpRequest, Exception], HttpResponse | None]) -> Any:
    """Middleware that calls `answer` with an exception of the view, in the view's thread. None leaves it to the next one.

    It waits if the handler does. Otherwise the middleware before it would run in a thread that keeps its database connection.
    """

    @sync_and_async_middleware
    def factory(get_response: Any) -> Any:
        def middleware(request: HttpRequest) -> Any:
            return get_response(request)

        chosen: Any = markcoroutinefunction(middleware) if iscoroutinefunction(get_response) else middleware
        chosen.process_exception = answer
        return chosen

    return factory
