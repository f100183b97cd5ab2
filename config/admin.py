"""The Django admin with tenant isolation.

Superusers see every tenant through mg_ops. Owners and admins of an organization see that organization only, inside its
transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from django.utils import timezone
from django.utils.translation import gettext

from operations.pages import operation_page
from projects.common.admin_names import translate_names
from projects.common.translation import lazy
from projects.models import Member, Organization, Project, Role, User
from tenancy.scope import platform_scope, tenant_tx
from tenancy.tenant_lookup import find_organizations

CHOSEN = "admin_organization"


# The models that people change most, in this order.
FIRST = ("CustomTool", "Attribute", "Project", "Member", "TodoType")


@dataclass(frozen=True)
class AdminScope:
    """The scope of a request: one organization, or all of them if `organization_id` is None."""

    organization_id: UUID | None
    name: str


class MakegoodAdmin(AdminSite):
    site_header = "Makegood"
    site_title = "Makegood"
    index_title = lazy("Administration")
    enable_nav_sidebar = True

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register models, whose names become translatable."""
        super().register(model_or_iterable, admin_class, **options)
        models = model_or_iterable if isinstance(model_or_iterable, Iterable) else [model_or_iterable]
        for model in models:
            translate_names(model)

    def has_permission(self, request: HttpRequest) -> bool:
        """True for superusers, and for owners and admins of at least one organization."""
        return _get_scope(request) is not None

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Run and render every page of the admin inside its scope. An exception rolls everything back."""
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def scoped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not request.user.is_authenticated:
                return inner(request, *args, **kwargs)
            with _enter_scope(request):
                response = inner(request, *args, **kwargs)
                return response.render() if hasattr(response, "render") else response

        return scoped

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the product's sign-in page, which limits failed attempts."""
        address = request.GET.get("next") or reverse("admin:index")
        return redirect(reverse("admin:index")) if request.user.is_authenticated else redirect_to_login(address)

    def get_urls(self) -> list[URLResolver | URLPattern]:
        own = [
            path("enter/<uuid:organization_id>", self.enter, name="enter"),
            path("operation/", self.admin_view(operation_page), name="operation"),
        ]
        return [*own, *super().get_urls()]

    def enter(self, request: HttpRequest, organization_id: UUID) -> HttpResponse:
        """Choose the organization that the admin shows. The header of every page names it."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not request.user.is_superuser and organization_id not in _administered_by(request.user.pk):
            raise Http404
        request.session[CHOSEN] = str(organization_id)
        return redirect("admin:index")

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        scope = _get_scope(request)
        return {**super().each_context(request), "scope_name": scope.name if scope else ""}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        """The models by how they are used, instead of by app: what people change first, the records last."""
        if app_label:
            return super().get_app_list(request, app_label)
        # Django sorts by the lazy names, which are translated again at each comparison: most of the time of a page.
        apps = self._build_app_dict(request).values()
        return group_models([{**model, "name": str(model["name"])} for app in apps for model in app["models"]])

    def get_log_entries(self, request: HttpRequest) -> QuerySet[LogEntry]:
        """The user's own entries. Row-level security limits them to this organization."""
        return super().get_log_entries(request).filter(user_id=cast(int, request.user.pk))


def group_models(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The index's groups of models, without empty ones, the latter by name. A record can only be viewed."""
    first = sorted((model for model in models if model["object_name"] in FIRST), key=_rank)
    others = sorted(
        (model for model in models if model["object_name"] not in FIRST),
        key=lambda model: model["name"].casefold(),
    )
    groups = (
        (gettext("Configuration"), first),
        (gettext("More settings"), [model for model in others if not model["view_only"]]),
        (gettext("Read-only records"), [model for model in others if model["view_only"]]),
    )
    return [{"name": name, "models": found, "app_label": "", "app_url": ""} for name, found in groups if found]


def _rank(model: dict[str, Any]) -> int:
    return FIRST.index(model["object_name"])


def _get_scope(request: HttpRequest) -> AdminScope | None:
    """The scope of the request. Found once, before a tenant's transaction is open, because the search opens its own."""
    if not hasattr(request, "admin_scope"):
        request.admin_scope = _find_scope(request)  # type: ignore[attr-defined]
    return cast("AdminScope | None", request.admin_scope)  # type: ignore[attr-defined]


def _find_scope(request: HttpRequest) -> AdminScope | None:
    if not isinstance(request.user, User) or not request.user.is_active:
        return None
    if request.user.is_superuser:
        return AdminScope(organization_id=None, name=gettext("all organizations"))
    names = _administered_by(request.user.pk)
    chosen = next((one for one in names if str(one) == request.session.get(CHOSEN)), next(iter(names), None))
    return AdminScope(organization_id=chosen, name=names[chosen]) if chosen else None


def _administered_by(user_id: int) -> dict[UUID, str]:
    """The names of the organizations that the user owns or administers, oldest membership first."""
    names = {}
    for organization_id in find_organizations(user_id=user_id):
        with tenant_tx(organization_id):
            if Member.objects.filter(user_id=user_id, role__in=(Role.OWNER, Role.ADMIN)).exists():
                names[organization_id] = Organization.objects.get(pk=organization_id).name
    return names


@contextmanager
def _enter_scope(request: HttpRequest) -> Iterator[None]:
    scope = _get_scope(request)
    if scope is None:
        raise PermissionDenied(gettext("Only owners and admins of an organization may use the admin."))
    if scope.organization_id is None:
        with platform_scope():
            yield
        return
    with tenant_tx(scope.organization_id), timezone.override(_zone()):
        yield


def _zone() -> str:
    """The time zone of the organization's oldest project; UTC without a configuration."""
    zones = Project.objects.exclude(agent_version=None).order_by("pk").values_list("agent_version__document__timezone")
    return next((str(zone) for (zone,) in zones[:1] if zone), "UTC")
