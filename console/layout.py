"""The layout shared by every page of a project."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from console.sidebar_badges import sidebar_badges
from projects.models import Project, Role, User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations


def shell_context(request: HttpRequest, entry: Entry, *, waiting: int | None = None) -> dict[str, Any]:
    """Context of `app.html`: the project, the member with their permissions, and the project switcher.

    `waiting` is the inbox's count if the page has read it.
    """
    user = cast(User, request.user)
    with tenant_tx(entry.project.organization.pk):
        badges = sidebar_badges(entry.project, waiting=waiting)
        version = entry.project.agent_version
    return {
        "counts": badges,
        "project": entry.project,
        "organization": entry.project.organization,
        "member": {"name": user.name, "initials": user.initials, "role": entry.member.role},
        "can_write": entry.may(Scope.CONVERSE),
        "can_operate": entry.may(Scope.OPERATE),
        "can_configure": entry.may(Scope.CONFIGURE),
        "can_administer": user.is_superuser or entry.member.role in (Role.OWNER, Role.ADMIN),
        "projects": projects_of(user),
        # Times are shown in the business's zone, not the reader's.
        "zone": version.config.timezone if version else "UTC",
        "offline": settings.OFFLINE_MODEL and not (version and version.config.model_base_url),
        "api_base": "/api/v1",
    }


def projects_of(user: User) -> list[dict[str, str]]:
    """The user's projects, grouped by organization."""
    projects: list[Project] = []
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            projects.extend(Project.objects.select_related("organization").order_by("created_at"))
    return [
        {
            "name": project.name,
            "slug": project.slug,
            "organization": project.organization.name,
            "url": reverse("dashboard", args=[project.slug]),
        }
        for project in projects
    ]
