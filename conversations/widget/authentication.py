"""Authentication of widget requests: the public key (through mg_ops), then the page's origin and the visitor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from typing import cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

from conversations.widget.errors import NoVisitor, NoWidget, OriginMissing, OriginNotAllowed
from conversations.widget.visitors import Visitor, read_visitor
from projects.api.authentication import Caller, PendingAuth, TenantAuthentication
from projects.models import Widget
from projects.models.key import Scope
from tenancy.scope import current_organization_id
from tenancy.tenant_lookup import WidgetRef, find_widget

KEY = re.compile(r"pk_[\w-]{24}", re.ASCII)
VISITOR_SCOPES = frozenset({Scope.READ.value, Scope.CONVERSE.value})
CACHED_WIDGETS = 4096


@dataclass(frozen=True)
class WidgetCaller(Caller):
    """A page that shows a widget and, for most endpoints, its visitor."""

    widget: Widget | None = None
    visitor: Visitor | None = None

    @property
    def identity(self) -> str:
        """The visitor, hashed, because a name is a secret of its browser."""
        return f"visitor:{sha256(self.visitor.names[0].encode()).hexdigest()}" if self.visitor else ""


class PageAuthentication(TenantAuthentication):
    """Authentication by the public key in the URL and an allowed page."""

    def find_pending_auth(self, request: Request) -> PendingAuth:
        key = request.parser_context["kwargs"]["key"]
        ref = widget_ref(key)
        return PendingAuth(ref.organization_id, partial(self.admit, ref.widget_id, request._request))

    def admit(self, widget_id: UUID, request: HttpRequest) -> WidgetCaller:
        """The caller for an open widget. Raises NoWidget, OriginNotAllowed, OriginMissing."""
        widget = _open_widget(widget_id)
        vars(request)["widget_page"] = _page_of(request, widget)
        return self._caller(widget)

    def _caller(self, widget: Widget, visitor: Visitor | None = None) -> WidgetCaller:
        return WidgetCaller(
            project=widget.project,
            organization_id=current_organization_id(),
            scopes=VISITOR_SCOPES,
            throttled=False,
            widget=widget,
            visitor=visitor,
        )


class VisitorAuthentication(PageAuthentication):
    """Page authentication plus `Authorization: Bearer <visitor's token>`. A CORS preflight carries no token."""

    def admit(self, widget_id: UUID, request: HttpRequest) -> WidgetCaller:
        caller = super().admit(widget_id, request)
        if request.method == "OPTIONS":
            return caller
        widget = cast(Widget, caller.widget)
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise NoVisitor
        return self._caller(widget, read_visitor(token, widget))


def widget_ref(key: str) -> WidgetRef:
    """The tenant and id of a widget, which never change, so they are cached. Raises NoWidget, which is not cached."""
    if not KEY.fullmatch(key):
        raise NoWidget
    return _cached_ref(key)


@lru_cache(maxsize=CACHED_WIDGETS)
def _cached_ref(key: str) -> WidgetRef:
    ref = find_widget(key)
    if ref is None:
        raise NoWidget
    return ref


def _open_widget(widget_id: UUID) -> Widget:
    rows = Widget.objects.select_related("project__agent_version", "project__organization")
    widget = rows.filter(pk=widget_id, is_enabled=True).first()
    if widget is None:
        raise NoWidget
    return widget


def _page_of(request: HttpRequest, widget: Widget) -> str:
    """The origin of the requesting page. Raises OriginMissing, OriginNotAllowed."""
    origin = request.headers.get("Origin") or _referer_origin(request)
    if not origin:
        raise OriginMissing
    if origin not in widget.origins and origin not in _own_origins(request):
        raise OriginNotAllowed(origin)
    return origin


def _referer_origin(request: HttpRequest) -> str:
    """The origin from the Referer: browsers send no Origin with a same-origin GET, and no page can forge this header."""
    try:
        parts = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""


def _own_origins(request: HttpRequest) -> tuple[str, str]:
    """Our own origins, which also show the widget: the demo shop does."""
    base = urlsplit(settings.BASE_URL)
    return f"{base.scheme}://{base.netloc}", f"{request.scheme}://{request.get_host()}"
