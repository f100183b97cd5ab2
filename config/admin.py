"""The stock Django admin, behind the tenant's walls.

The platform's own people (superusers) see every tenant through mg_ops. Owners and admins of an organization see theirs,
inside its transaction, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast
from uuid import UUID

from django.contrib.admin import AdminSite
from django.contrib.admin.models import LogEntry
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse

from projects.models import Member, Organization, Role, User
from tenancy.scope import platform_scope, tenant_tx
from tenancy.tenant_lookup import find_organizations

CHOSEN = "admin_organization"


@dataclass(frozen=True)
class AdminScope:
    """Whose pages a request sees: one organization's, or with None the platform's."""

    organization_id: UUID | None
    name: str


class MakegoodAdmin(AdminSite):
    site_header = "Makegood"
    site_title = "Makegood"
    index_title = "Everything there is"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Superusers, and administrators of at least one organization."""
        return _place_of(request) is not None

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Every page of the admin runs, and renders, inside its scope; an exception rolls everything back."""
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def scoped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not request.user.is_authenticated:
                return inner(request, *args, **kwargs)
            with _scope_of(request):
                response = inner(request, *args, **kwargs)
                return response.render() if hasattr(response, "render") else response

        return scoped

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one door for everyone, which counts failures."""
        address = request.GET.get("next") or reverse("admin:index")
        return redirect(reverse("admin:index")) if request.user.is_authenticated else redirect_to_login(address)

    def get_urls(self) -> list[URLResolver | URLPattern]:
        return [path("enter/<uuid:organization_id>", self.enter, name="enter"), *super().get_urls()]

    def enter(self, request: HttpRequest, organization_id: UUID) -> HttpResponse:
        """Choose which of one's organizations the admin shows. The header names it on every page."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not request.user.is_superuser and organization_id not in _administered_by(request.user.pk):
            raise Http404
        request.session[CHOSEN] = str(organization_id)
        return redirect("admin:index")

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        place = _place_of(request)
        return {**super().each_context(request), "site_header": f"Makegood · {place.name}" if place else "Makegood"}

    def get_log_entries(self, request: HttpRequest) -> QuerySet[LogEntry]:
        """Of this organization only: row-level security holds for the history too."""
        return super().get_log_entries(request).filter(user_id=cast(int, request.user.pk))


def _place_of(request: HttpRequest) -> AdminScope | None:
    """Found once per request, before any tenant's transaction is open: finding it opens them one after the other."""
    if not hasattr(request, "admin_place"):
        request.admin_place = _find_place(request)  # type: ignore[attr-defined]
    return cast("AdminScope | None", request.admin_place)  # type: ignore[attr-defined]


def _find_place(request: HttpRequest) -> AdminScope | None:
    if not isinstance(request.user, User) or not request.user.is_active:
        return None
    if request.user.is_superuser:
        return AdminScope(organization_id=None, name="all organizations")
    names = _administered_by(request.user.pk)
    chosen = next((one for one in names if str(one) == request.session.get(CHOSEN)), next(iter(names), None))
    return AdminScope(organization_id=chosen, name=names[chosen]) if chosen else None


def _administered_by(user_id: int) -> dict[UUID, str]:
    """The names of the organizations whose owner or admin the user is, oldest membership first."""
    names = {}
    for organization_id in find_organizations(user_id=user_id):
        with tenant_tx(organization_id):
            if Member.objects.filter(user_id=user_id, role__in=(Role.OWNER, Role.ADMIN)).exists():
                names[organization_id] = Organization.objects.get(pk=organization_id).name
    return names


@contextmanager
def _scope_of(request: HttpRequest) -> Iterator[None]:
    place = _place_of(request)
    if place is None:
        raise PermissionDenied("Only owners and admins of an organization may enter.")
    with platform_scope() if place.organization_id is None else tenant_tx(place.organization_id):
        yield
