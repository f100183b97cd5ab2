"""The pages of conversations."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from projects.lookups import find_organizations
from projects.models import Project, Role, User
from projects.models.key import Scope
from projects.permissions import Entry, enter_project
from projects.tenancy import tenant_tx


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Straight to the first project's playground; a person without one is told so."""
    found = _projects_of(cast(User, request.user))
    if found:
        return redirect(found[0]["url"])
    return render(request, "no_project.html", status=200)


@login_required
def playground(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Talk to the agent, and see each turn from within."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    context = {
        **shell_context(request, entry),
        "api_base": "/api/v1",
        "can_write": entry.may(Scope.CONVERSE),
        "can_operate": entry.may(Scope.OPERATE),
        "conversation_id": _uuid_or_empty(request.GET.get("conversation", "")),
    }
    return render(request, "playground.html", context)


def shell_context(request: HttpRequest, entry: Entry) -> dict[str, Any]:
    """What every page of a project shows around its own part."""
    user = cast(User, request.user)
    return {
        "project": entry.project,
        "organization": entry.project.organization,
        "member": {"name": user.name, "initials": user.initials, "role": entry.member.role},
        "can_administer": user.is_superuser or entry.member.role in (Role.OWNER, Role.ADMIN),
        "projects": _projects_of(user),
        "offline": settings.OFFLINE_MODEL,
    }


def _projects_of(user: User) -> list[dict[str, str]]:
    """Every project the user may enter, organization by organization."""
    projects: list[Project] = []
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            projects.extend(Project.objects.select_related("organization").order_by("created_at"))
    return [
        {
            "name": project.name,
            "slug": project.slug,
            "organization": project.organization.name,
            "url": reverse("playground", args=[project.slug]),
        }
        for project in projects
    ]


def _uuid_or_empty(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""
