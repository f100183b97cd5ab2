"""The language of members: of their pages, their API responses and their e-mails (`settings.STAFF_LANGUAGES`).

Texts for customers follow a rule of their own (`projects.widget.languages`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import get_supported_language_variant, override
from django.utils.translation.trans_real import parse_accept_lang_header

from projects.models import User
from tenancy.threads import in_db

Answer = HttpResponse | Awaitable[HttpResponse]

API = "/api/"
# Pages of customers and files. They don't read the session, and choose their own language.
NOT_STAFF = ("/widget", "/c/", "/b/", "/k/", "/i18n/", "/healthz", "/files/", "/demo/")


def staff_language(*codes: str) -> str:
    """The first code that the interface is translated to, where `it-CH` falls back to `it`; otherwise English."""
    for code in codes:
        try:
            language = get_supported_language_variant(code.lower())
        except LookupError:
            continue
        if language in dict(settings.STAFF_LANGUAGES):
            return language
    return settings.LANGUAGE_CODE


def language_of_browser(request: HttpRequest) -> str:
    """The interface language that the browser asks for."""
    asked = parse_accept_lang_header(request.headers.get("Accept-Language", "").lower())
    return staff_language(*(code for code, _ in asked))


def language_of_user(user: User) -> str:
    """The language of e-mails: the user's own choice, or the language of the browser that last signed in."""
    return staff_language(user.language, user.browser_language)


def language_of_request(request: HttpRequest, user: AbstractBaseUser | AnonymousUser) -> str:
    """The language of a page: the signed-in user's choice, or the browser's language."""
    chosen = user.language if isinstance(user, User) else ""
    return chosen if chosen in dict(settings.STAFF_LANGUAGES) else language_of_browser(request)


@sync_and_async_middleware
def staff_language_middleware(get_response: Callable[[HttpRequest], Answer]) -> Callable[[HttpRequest], Answer]:
    """Activates the reader's language for a page. Pages of customers override it.

    The API speaks English, except to members (`MemberAuthentication`).
    """
    if not iscoroutinefunction(get_response):

        def middleware(request: HttpRequest) -> Answer:
            with override(_language_of(request)):
                return _varied(cast(HttpResponse, get_response(request)), request)

        return middleware

    async def async_middleware(request: HttpRequest) -> HttpResponse:
        # The user is read in a database thread, which keeps its connection: no other one is held while a view streams.
        needs_user = settings.SESSION_COOKIE_NAME in request.COOKIES
        with override(await in_db(_language_of, request) if needs_user else _language_of(request)):
            return _varied(await cast(Awaitable[HttpResponse], get_response(request)), request)

    return markcoroutinefunction(async_middleware)


def _language_of(request: HttpRequest) -> str:
    if request.path.startswith(API):
        return str(settings.LANGUAGE_CODE)
    if request.path.startswith(NOT_STAFF):
        return language_of_browser(request)
    return language_of_request(request, request.user)


def _varied(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    if not request.path.startswith((API, *NOT_STAFF)):
        patch_vary_headers(response, ("Accept-Language",))
    return response


@receiver(user_logged_in)
def _note_language(sender: Any, request: HttpRequest | None, user: User, **_: Any) -> None:
    """Store the browser's language for e-mails to a user who has chosen none."""
    if request is None or "Accept-Language" not in request.headers:
        return
    language = language_of_browser(request)
    if user.browser_language != language:
        user.browser_language = language
        user.save(update_fields=["browser_language"])
