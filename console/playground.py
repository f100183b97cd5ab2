"""The way in, and the playground."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from console.layout import projects_of, shell_context
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import enter_project


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Straight to the first project; a person without one names a business, or is told who can invite them."""
    found = projects_of(cast(User, request.user))
    if found:
        return redirect(found[0]["url"])
    return redirect("welcome") if settings.SIGNUP else render(request, "no_project.html")


@login_required
@require_safe
def playground(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Talk to the agent, and see each turn from within."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    asked = {f"{name}_id": _uuid_or_empty(request.GET.get(name, "")) for name in ("conversation", "turn")}
    return render(request, "playground.html", {**shell_context(request, entry), **asked})


def _uuid_or_empty(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""
