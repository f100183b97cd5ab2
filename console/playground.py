"""The start page, the playground, and the inspector of real conversations."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from console.layout import projects_of, shell_context
from conversations.models import Conversation
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the user's first project, or to onboarding; without sign-up, explain how to get access."""
    found = projects_of(cast(User, request.user))
    if found:
        return redirect(found[0]["url"])
    return redirect("welcome") if settings.SIGNUP else render(request, "no_project.html")


@login_required
@require_safe
def playground(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Chat with the agent and inspect each turn. Real conversations are read-only."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    asked = {f"{name}_id": _uuid_or_empty(request.GET.get(name, "")) for name in ("conversation", "turn")}
    inspects = _is_real(entry, asked["conversation_id"])
    context = {**shell_context(request, entry), **asked, "inspects": inspects}
    if inspects:
        context["active_view"] = "inbox"
    return render(request, "playground.html", context)


def _is_real(entry: Entry, conversation_id: str) -> bool:
    """True for a customer's conversation; False for a test or a missing one."""
    if not conversation_id:
        return False
    with tenant_tx(entry.project.organization.pk):
        found = Conversation.objects.filter(project=entry.project, pk=conversation_id).first()
    return found is not None and not found.is_test


def _uuid_or_empty(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""
