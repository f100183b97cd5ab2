"""The JavaScript catalogues: a script with Django's `gettext` for the customers' pages, and the widget's table of sentences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from gettext import translation

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe
from django.views.i18n import JavaScriptCatalog

SECONDS_KEPT = 300
WIDGET = settings.BASE_DIR / "static" / "widget"
SENTENCE = re.compile(r'\b(?:say|phrase)\("([^"]+)"')


@cache
def widget_catalog() -> dict[str, list[str]]:
    """The widget's sentences by language, each where its English stands in `en`."""
    texts = sorted({text for path in WIDGET.glob("*.js") for text in SENTENCE.findall(path.read_text())})
    return {code: _translated(texts, code) for code, _ in settings.LANGUAGES}


def _translated(texts: Sequence[str], language: str) -> list[str]:
    is_english = language == settings.LANGUAGE_CODE
    found = translation("djangojs", settings.LOCALE_PATHS[0], [language], fallback=is_english)
    return [found.gettext(text) for text in texts]


@cache
def _script(language: str) -> bytes:
    """Raises Http404 for a language without a catalogue."""
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
    """GET `gettext` and the sentences of a language, as a script that defines `django`."""
    return HttpResponse(_script(language), content_type="text/javascript; charset=utf-8")
