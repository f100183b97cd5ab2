"""Export and deletion of the organization, for its owners."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from console.access import signed_in_user, zone_of
from console.agent.page import tab_url
from console.timestamps import format_timestamp
from privacy.export.zip_stream import zip_response
from privacy.models import OrganizationDeletion
from privacy.organizations.deletion import cancel_deletion, request_deletion
from privacy.organizations.export import OrganizationExport, begin_organization_export
from projects.common.api_error import ApiError
from projects.models import Role, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db


def enter_as_owner(user: User, project_slug: str) -> Entry:
    """The owner's entry to a project. Raises Http404 for a stranger, PermissionDenied for another role."""
    entry = enter_project(user, project_slug, verb=Scope.CONFIGURE)
    if entry.member.role != Role.OWNER:
        raise PermissionDenied(gettext("Only owners may export or delete the organization."))
    return entry


def organization_context(entry: Entry) -> dict[str, Any]:
    """The organization's part of the privacy page. Call inside the tenant's transaction."""
    request = OrganizationDeletion.objects.first()
    due = format_timestamp(request.due_at, zone=zone_of(entry)) if request else None
    return {"is_owner": entry.member.role == Role.OWNER, "deletion_due": due}


@require_safe
async def export_organization(request: HttpRequest, project_slug: str) -> HttpResponseBase:
    """Download everything that the organization has stored. All database work runs in the threads of `in_db`."""
    user = await in_db(signed_in_user, request)
    if user is None:
        return redirect_to_login(request.get_full_path())
    export = await in_db(_begin, user, project_slug)
    return zip_response(export.pieces(), name=export.file_name, organization_id=export.organization_id)


@login_required
@require_POST
def delete_organization(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Request the deletion, once the organization's name is typed."""
    user = cast(User, request.user)
    entry = enter_as_owner(user, project_slug)
    organization, at_once = entry.project.organization, request.POST.get("when") == "now"
    try:
        with tenant_tx(organization.pk):
            request_deletion(organization, by=user, typed=request.POST.get("name", "")[:200], at_once=at_once)
    except ApiError as error:
        messages.error(request, error.message)
        return redirect(tab_url(project_slug, "privacy"))
    if at_once:
        messages.success(request, gettext("The organization is being deleted."))
        return redirect("home")
    messages.success(
        request, gettext("The organization will be deleted in seven days. Until then, you can cancel this.")
    )
    return redirect(tab_url(project_slug, "privacy"))


@login_required
@require_POST
def keep_organization(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Take the request back."""
    user = cast(User, request.user)
    entry = enter_as_owner(user, project_slug)
    try:
        with tenant_tx(entry.project.organization.pk):
            cancel_deletion(entry.project.organization, by=user)
    except ApiError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("Deletion canceled."))
    return redirect(tab_url(project_slug, "privacy"))


def _begin(user: User, project_slug: str) -> OrganizationExport:
    authorize = partial(enter_as_owner, user, project_slug)
    organization = authorize().project.organization
    with tenant_tx(organization.pk):
        return begin_organization_export(organization, by=user, authorize=authorize)
