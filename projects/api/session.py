"""Session middleware for API requests: the session is loaded when a view needs the user, and never saved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware
from django.utils.functional import SimpleLazyObject

SessionStore = import_module(settings.SESSION_ENGINE).SessionStore

Answer = HttpResponse | Awaitable[HttpResponse]


@sync_and_async_middleware
def session_middleware(get_response: Callable[[HttpRequest], Answer]) -> Callable[[HttpRequest], Answer]:
    """Replaces Django's session, authentication and host checks, which cost an API request several thread switches."""

    def middleware(request: HttpRequest) -> Answer:
        request.get_host()
        request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
        request.user = SimpleLazyObject(lambda: get_user(request))  # type: ignore[assignment]
        return get_response(request)

    return markcoroutinefunction(middleware) if iscoroutinefunction(get_response) else middleware
