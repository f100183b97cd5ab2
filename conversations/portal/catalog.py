"""The portal's JavaScript translation catalog, served by Django's own view."""

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


@cache
def _script(language: str) -> bytes:
    """Raises Http404 for a language without a catalog."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with override(language):
        return JavaScriptCatalog(packages=["projects"]).get(HttpRequest()).content


def _etag(request: HttpRequest, language: str) -> str:
    return f'"{hashlib.sha256(_script(language)).hexdigest()[:32]}"'


@require_safe
@cache_control(public=True, max_age=SECONDS_KEPT)
@condition(etag_func=_etag)
def javascript_catalog(request: HttpRequest, language: str) -> HttpResponse:
    """GET `gettext` and a language's messages, as a script that defines `django`."""
    return HttpResponse(_script(language), content_type="text/javascript; charset=utf-8")
