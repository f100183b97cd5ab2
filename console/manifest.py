"""The web app manifest, with which the console is put on a phone's Home Screen. iPhones need that for push messages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

# The surface of makegood.css in light, which is at the top of a phone. A manifest has one color; pages name both.
SURFACE = "#fffefc"
ICONS = (("icon-192", 192, "any"), ("icon-512", 512, "any"), ("icon-maskable-512", 512, "maskable"))


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    """The manifest. Its icons have addresses with the version of the static files."""
    content = {
        "id": "/",
        "name": "Makegood",
        "short_name": "Makegood",
        "description": gettext("Agents that make good on what they say."),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": SURFACE,
        "background_color": SURFACE,
        "icons": [
            {"src": static(f"img/{name}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
            for name, size, purpose in ICONS
        ],
    }
    response = JsonResponse(content, content_type="application/manifest+json")
    response.headers["Cache-Control"] = "no-cache"
    return response


@require_safe
def icon(request: HttpRequest, name: str) -> HttpResponse:
    """The icon at an address that browsers try by themselves, such as beside an answer that is no page."""
    response = redirect(static(f"img/{name}.png"))
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
