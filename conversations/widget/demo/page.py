"""The demo shop's page: a fictional shop with the widget and a strict Content-Security-Policy."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import jwt
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from conversations.widget.demo.project import demo_shop
from conversations.widget.shopper import ALGORITHM
from projects.demo.shop import CLARA, keep_connected
from projects.knowledge.links import article_path
from projects.models import Article, Project, Widget
from projects.widget.widgets import find_widget, shopper_secret

SIGNED_IN_SECONDS = 12 * 3_600
STRICT: dict[str, Any] = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "font-src": ["'self'"],
    "img-src": ["'self'"],
    "connect-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
    "require-trusted-types-for": ["'script'"],
}


@never_cache
@require_safe
@csp_replace(STRICT)
def shop(request: HttpRequest) -> HttpResponse:
    """The shop page of the demo organization's widget; `?as=clara` signs in a shopper."""
    with demo_shop() as project:
        widget = find_widget(project.pk)
        if widget is None:
            raise Http404
        keep_connected(project)
        token = _shopper_token(widget) if request.GET.get("as") == "clara" else ""
        context = {
            "key": widget.public_key,
            "shopper": token,
            "name": CLARA.name if token else "",
            "articles": _articles(project),
            "project": project,
        }
    return render(request, "demo/shop.html", context)


def _articles(project: Project) -> list[dict[str, str]]:
    rows = Article.objects.filter(project=project, published_at__isnull=False)
    return [{"title": row.title, "url": article_path(project.slug, row.slug)} for row in rows]


def _shopper_token(widget: Widget) -> str:
    """A shopper token, signed as a shop's server would."""
    said = {"exp": int(time.time()) + SIGNED_IN_SECONDS, "shopper": asdict(CLARA)}
    secret = shopper_secret(widget)
    return jwt.encode(said, secret, algorithm=ALGORITHM) if secret else ""
