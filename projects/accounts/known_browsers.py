"""Browsers that have signed in to an account before, recognized by a signed cookie.

Wrong passwords of strangers don't delay the owner there.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from projects.models import User

COOKIE = "known_browser"
SALT = "makegood.known_browser"
SECONDS = 365 * 86_400
MOST_USERS = 5


@dataclass(frozen=True)
class KnownBrowser:
    """A browser and the users who signed in there, the latest first."""

    name: str
    users: tuple[int, ...] = ()


def read_browser(request: HttpRequest) -> KnownBrowser | None:
    """The browser in the request's cookie, or None if there is none or it isn't ours."""
    try:
        name, users = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return KnownBrowser(name, tuple(users))


def remember_browser(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie after a sign-in."""
    known = read_browser(request) or KnownBrowser(secrets.token_urlsafe(12))
    users = [user.pk, *(pk for pk in known.users if pk != user.pk)][:MOST_USERS]
    response.set_cookie(
        COOKIE,
        signing.dumps([known.name, users], salt=SALT),
        max_age=SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
