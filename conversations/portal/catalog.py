"""JavaScript translation catalogs of the portal and of the console, made by Django's own view."""

from __future__ import annotations

import hashlib
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe
from django.views.i18n import JavaScriptCatalog

SECONDS_KEPT = 300
PORTAL, CONSOLE = "projects", "console"


@cache
def _script(language: str, app: str) -> bytes:
    """The customers' messages, and those of the app if it has a `locale` of its own. Raises Http404 for a language
    without a catalog.
    """
    if language not in dict(settings.STAFF_LANGUAGES if app == CONSOLE else settings.LANGUAGES):
        raise Http404
    with override(language):
        return JavaScriptCatalog(packages=[app]).get(HttpRequest()).content


def _etag(request: HttpRequest, language: str, *, app: str = PORTAL) -> str:
    return f'"{hashlib.sha256(_script(language, app)).hexdigest()[:32]}"'


@require_safe
@cache_control(public=True, max_age=SECONDS_KEPT)
@condition(etag_func=_etag)
def javascript_catalog(request: HttpRequest, language: str, *, app: str = PORTAL) -> HttpResponse:
    """GET `gettext` and a language's messages, as a script that defines `django`."""
    return HttpResponse(_script(language, app), content_type="text/javascript; charset=utf-8")
