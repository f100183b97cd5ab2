"""The stock Django admin, behind the tenant's walls.

The platform's own people (superusers) see every tenant through mg_ops. Owners and admins of an organization see theirs,
inside its transaction, as everywhere else.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, cast
from uuid import UUID

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from projects.lookups import find_organizations
from projects.tenancy import platform_scope, tenant_tx


class MakegoodAdminConfig(AdminConfig):
    default_site = "config.admin.MakegoodAdmin"


class MakegoodAdmin(AdminSite):
    site_header = "Makegood"
    site_title = "Makegood"
    index_title = "Everything this organization has"

    def has_permission(self, request: HttpRequest) -> bool:
        """Superusers, and administrators of at least one organization."""
        user = request.user
        return user.is_active and user.is_authenticated and (user.is_superuser or administered_by(user.pk) is not None)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Every page of the admin runs, and renders, inside its scope."""
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def scoped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not request.user.is_authenticated:
                return inner(request, *args, **kwargs)
            with _scope_of(request):
                response = inner(request, *args, **kwargs)
                return response.render() if hasattr(response, "render") else response

        return scoped


def administered_by(user_id: int) -> UUID | None:
    """The organization whose admin pages a user sees: the first where they are owner or admin."""
    from projects.models import Member, Role

    for organization_id in find_organizations(user_id=user_id):
        with tenant_tx(organization_id):
            if Member.objects.filter(user_id=user_id, role__in=(Role.OWNER, Role.ADMIN)).exists():
                return organization_id
    return None


def _scope_of(request: HttpRequest) -> AbstractContextManager[None]:
    if request.user.is_superuser:
        return platform_scope()
    organization_id = administered_by(cast(int, request.user.pk))
    if organization_id is None:
        raise PermissionDenied("Only owners and admins of an organization may enter.")
    return tenant_tx(organization_id)
