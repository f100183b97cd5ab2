"""The host and the signed-in person of an API request: who it is, is read from the cookie when a view asks, never written."""

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
    """Stands in for Django's own, which cost an API call several changes of thread: of the session, of who is signed in, and of
    the host names that are answered.
    """

    def middleware(request: HttpRequest) -> Answer:
        request.get_host()
        request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
        request.user = SimpleLazyObject(lambda: get_user(request))  # type: ignore[assignment]
        return get_response(request)

    return markcoroutinefunction(middleware) if iscoroutinefunction(get_response) else middleware
