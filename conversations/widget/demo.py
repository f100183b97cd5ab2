"""A shop that doesn't exist, to see the demo's widget on: a page of its own, as strict as a careful business's."""

from __future__ import annotations

import time
from typing import Any

import jwt
from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from conversations.widget.shopper import ALGORITHM
from projects.lookups import find_organizations
from projects.management.commands.demo import EMAIL
from projects.models import User, Widget
from projects.tenancy import tenant_tx
from projects.widgets import shopper_secret

# What the pretended shop says of the shopper who is signed in there.
CLARA = {"wp_user_id": 17, "name": "Clara Conti", "email": "clara@example.com"}
SIGNED_IN_SECONDS = 3_600
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
    """The shop, for the demo organization's widget only; `?as=clara` signs a shopper in there."""
    is_signed_in = request.GET.get("as") == "clara"
    widget, token = _demo_widget(is_signed_in=is_signed_in)
    context = {"key": widget.public_key, "shopper": token, "name": CLARA["name"] if token else ""}
    return render(request, "demo/shop.html", {**context, "base_url": settings.BASE_URL})


def _demo_widget(*, is_signed_in: bool) -> tuple[Widget, str]:
    """The demo's widget, and a token of its shopper. Raises Http404 where there is no demo."""
    user = User.objects.filter(email=EMAIL).first()
    for organization_id in find_organizations(user_id=user.pk) if user else ():
        with tenant_tx(organization_id):
            widget = Widget.objects.order_by("created_at").first()
            if widget is not None:
                return widget, _signed(widget) if is_signed_in else ""
    raise Http404


def _signed(widget: Widget) -> str:
    """As a shop's own server does it."""
    said = {"exp": int(time.time()) + SIGNED_IN_SECONDS, "shopper": CLARA}
    secret = shopper_secret(widget)
    return jwt.encode(said, secret, algorithm=ALGORITHM) if secret else ""
