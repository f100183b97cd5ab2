"""The layout shared by every page of a project."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse

from console.sidebar_badges import sidebar_badges
from notices.push.vapid import public_key
from notices.services import unread_count
from projects.models import Project, Role, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations

ACCOUNT_PAGES = frozenset({"account", "account_change_password", "notice_settings"})
# The slug of the project from which the reader opened a page that belongs to none, in the session.
CAME_FROM = "shell_project"
_PROJECTS = PreparedQuery(lambda: Project.objects.select_related("organization").order_by("created_at"), kinds=())


def shell_context(request: HttpRequest, entry: Entry, *, waiting: int | None = None) -> dict[str, Any]:
    """Context of `app.html`: the project, the member with their permissions, and the project switcher.

    `waiting` is the inbox's count if the page has read it.
    """
    user = cast(User, request.user)
    with tenant_tx(entry.project.organization.pk):
        badges = sidebar_badges(entry.project, waiting=waiting)
        version = entry.project.agent_version
        unread = unread_count(entry.member, entry.project.pk)
    return {
        "badges": badges,
        "unread": unread,
        "push_key": public_key(),
        **entry_context(entry),
        "organization": entry.project.organization,
        "member": {
            "name": user.name,
            "initials": user.initials,
            "role_name": entry.member.get_role_display().partition(": ")[0],
        },
        "can_develop": entry.member.developer_tools,
        "can_administer": may_administer(entry),
        "projects": projects_of(user),
        # Times are shown in the business's zone, not the reader's.
        "zone": version.config.timezone if version else "UTC",
        "simulates_phone": bool(settings.OFFLINE_MESSENGERS_URL),
        "offline": settings.OFFLINE_MODEL and not (version and version.config.model_base_url),
        "api_base": "/api/v1",
    }


def entry_context(entry: Entry) -> dict[str, Any]:
    """The project and what the member may do there, for a part of a page that is read again without the shell."""
    return {
        "project": entry.project,
        "can_write": entry.may(Scope.CONVERSE),
        "can_operate": entry.may(Scope.OPERATE),
        "can_configure": entry.may(Scope.CONFIGURE),
    }


def may_administer(entry: Entry) -> bool:
    """True if the person may open the administration of this organization."""
    return entry.member.user.is_superuser or entry.member.role in (Role.OWNER, Role.ADMIN)


def account_context(request: HttpRequest) -> dict[str, Any]:
    """Context of `app.html` for pages that belong to no project: with the project that the reader came from, or the
    first one. Empty for a user without a project.
    """
    user = cast(User, request.user)
    asked = request.GET.get("project", "")
    for slug in (asked, request.session.get(CAME_FROM, ""), *(one["slug"] for one in projects_of(user)[:1])):
        with suppress(Http404):
            entry = enter_project(user, slug, verb=Scope.READ)
            if slug == asked and request.session.get(CAME_FROM) != slug:
                request.session[CAME_FROM] = slug
            return shell_context(request, entry)
    return {}


def account_pages_context(request: HttpRequest) -> dict[str, Any]:
    """Template context processor: the shell of the account's pages, most of which are allauth's views."""
    match = request.resolver_match
    name = (match.url_name if match else "") or ""
    is_account = name in ACCOUNT_PAGES or name.startswith("mfa_")
    return account_context(request) if is_account and request.user.is_authenticated else {}


def projects_of(user: User) -> list[dict[str, str]]:
    """The user's projects, grouped by organization."""
    projects: list[Project] = []
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            projects.extend(_PROJECTS())
    return [
        {
            "name": project.name,
            "slug": project.slug,
            "organization": project.organization.name,
            "url": reverse("dashboard", args=[project.slug]),
        }
        for project in projects
    ]
