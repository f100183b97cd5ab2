"""Who is let in at the widget's doors: first the key (through mg_ops), then, inside the tenant's transaction, page and visitor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

from conversations.widget.errors import ForeignPage, NoPage, NoVisitor, NoWidget
from conversations.widget.visitors import Visitor, read_visitor
from projects.api.authentication import Caller, PendingAuth, TenantAuthentication
from projects.models import Widget
from projects.models.key import Scope
from tenancy.scope import current_organization_id
from tenancy.tenant_lookup import WidgetRef, find_widget

KEY = re.compile(r"pk_[\w-]{24}", re.ASCII)
MAY = frozenset({Scope.READ.value, Scope.CONVERSE.value})
KEPT_PLACES = 4096


@dataclass(frozen=True)
class WidgetCaller(Caller):
    """A page that shows a widget; at most doors with the visitor who looks at it."""

    widget: Widget | None = None
    visitor: Visitor | None = None


class PageAuthentication(TenantAuthentication):
    """The public key in the address, and a page that the business has named."""

    def find_pending_auth(self, request: Request) -> PendingAuth:
        key = request.parser_context["kwargs"]["key"]
        place = place_of(key)
        return PendingAuth(place.organization_id, partial(self.admit, place.widget_id, request._request))

    def admit(self, widget_id: UUID, request: HttpRequest) -> WidgetCaller:
        """Raises NoWidget, ForeignPage, NoPage."""
        widget = _open_widget(widget_id)
        vars(request)["widget_page"] = _page_of(request, widget)
        return self._caller(widget)

    def _caller(self, widget: Widget, visitor: Visitor | None = None) -> WidgetCaller:
        return WidgetCaller(
            project=widget.project,
            organization_id=current_organization_id(),
            scopes=MAY,
            throttled=False,
            widget=widget,
            visitor=visitor,
        )


class VisitorAuthentication(PageAuthentication):
    """The same, and `Authorization: Bearer <visitor's token>`. What a browser asks beforehand carries no token."""

    def admit(self, widget_id: UUID, request: HttpRequest) -> WidgetCaller:
        caller = super().admit(widget_id, request)
        if request.method == "OPTIONS":
            return caller
        widget = cast(Widget, caller.widget)
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise NoVisitor
        return self._caller(widget, read_visitor(token, widget))


def place_of(key: str) -> WidgetRef:
    """Where a widget lives, which never changes. Raises NoWidget, which is not kept."""
    if not KEY.fullmatch(key):
        raise NoWidget
    return _known_place(key)


@lru_cache(maxsize=KEPT_PLACES)
def _known_place(key: str) -> WidgetRef:
    place = find_widget(key)
    if place is None:
        raise NoWidget
    return place


def _open_widget(widget_id: UUID) -> Widget:
    rows = Widget.objects.select_related("project__agent_version", "project__organization")
    widget = rows.filter(pk=widget_id, is_enabled=True).first()
    if widget is None:
        raise NoWidget
    return widget


def _page_of(request: HttpRequest, widget: Widget) -> str:
    """The origin of the page that asks. Raises NoPage, ForeignPage."""
    origin = request.headers.get("Origin") or _referring(request)
    if not origin:
        raise NoPage
    if origin not in widget.origins and origin not in _own_origins(request):
        raise ForeignPage(origin)
    return origin


def _referring(request: HttpRequest) -> str:
    """Of a GET to its own origin browsers say the page only: no page can write this header for another."""
    try:
        parts = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""


def _own_origins(request: HttpRequest) -> tuple[str, str]:
    """Our own pages show the widget as well: the demo's shop does."""
    base = urlsplit(settings.BASE_URL)
    return f"{base.scheme}://{base.netloc}", f"{request.scheme}://{request.get_host()}"
