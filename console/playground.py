"""The start page, the playground, and the inspector of real conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from console.inbox.rows import UNNAMED
from console.layout import projects_of, shell_context
from conversations.calls.web_calls import can_call
from conversations.common.customer_names import conversation_names
from conversations.models import Channel, Conversation
from projects.agents.drafts import read_draft
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx

CHANNEL_ICONS: Mapping[Channel, str] = {
    Channel.PHONE: "phone",
    Channel.WEBCALL: "phone",
    Channel.SMS: "device-mobile-message",
    Channel.EMAIL: "mail",
    Channel.API: "code",
}


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
    inspects = _inspected(entry, asked["conversation_id"])
    types_calls = bool(settings.OFFLINE_CALLS_URL)
    context = {**shell_context(request, entry), **asked, "inspects": inspects, "types_calls": types_calls}
    if inspects:
        context["active_view"] = "inbox"
    else:
        with tenant_tx(entry.project.organization.pk):
            context["has_draft"] = read_draft(entry.project).draft is not None
            context["takes_calls"] = can_call(entry.project)
        context["tries_draft"] = context["has_draft"] and request.GET.get("settings") == "draft"
    return render(request, "playground.html", context)


@dataclass(frozen=True)
class Inspected:
    """A customer's conversation, as the inspector's title names it."""

    name: str
    channel: str
    icon: str


def _inspected(entry: Entry, conversation_id: str) -> Inspected | None:
    """A customer's conversation; None for a test or a missing one."""
    if not conversation_id:
        return None
    with tenant_tx(entry.project.organization.pk):
        found = Conversation.objects.filter(project=entry.project, pk=conversation_id).first()
        if found is None or found.is_test:
            return None
        name = conversation_names([found]).get(found.pk, UNNAMED)
    icon = CHANNEL_ICONS.get(Channel(found.channel), "message-circle")
    return Inspected(name=name, channel=found.get_channel_display(), icon=icon)


def _uuid_or_empty(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""
