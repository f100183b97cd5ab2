"""The page that compares the draft with the published settings, and publishes or discards it."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.agent.nested_form_data import note_of, number_of, read_entries, text_of
from console.agent.page import page_context, tab_url
from projects.agents.drafts import NothingToPublish, discard_draft, publish_draft
from projects.agents.hours_text import find_contradictions
from projects.agents.services import NewerVersion
from projects.models import User
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def publish_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show what the draft changes; POST publishes it with a note, or discards it."""
    is_change = request.method == "POST"
    verb = Scope.CONFIGURE if is_change else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb)
    return _change(request, entry) if is_change else _show(request, entry)


def _change(request: HttpRequest, entry: Entry) -> HttpResponse:
    entries, author = read_entries(request.POST), cast(User, request.user)
    started_from = number_of(entries, "started_from")
    try:
        with tenant_tx(entry.project.organization.pk):
            if text_of(entries, "discard"):
                discard_draft(entry.project, started_from=started_from, author=author)
                sentence = gettext("Draft discarded. You can restore it from the history.")
            else:
                note = note_of(entries)
                version = publish_draft(entry.project, started_from=started_from, author=author, note=note)
                sentence = gettext("Version %(number)s is live.") % {"number": version.number}
    except NewerVersion:
        return _show(
            request,
            entry,
            problem=gettext("Someone saved the draft while you were reviewing it. Review it again."),
            status=409,
        )
    except NothingToPublish:
        return _show(request, entry, status=409)
    except SettingsRefused as refusal:
        return _show(request, entry, problem=" ".join(map(str, refusal.errors.values())), status=422)
    messages.success(request, sentence)
    return redirect(tab_url(entry.project.slug, "publish"))


def _show(request: HttpRequest, entry: Entry, *, problem: str = "", status: int = 200) -> HttpResponse:
    context = page_context(request, entry, tab="publish")
    contradictions = find_contradictions(context["document"]) if context["draft"] else []
    shown = {**context, "problem": problem, "contradictions": contradictions}
    return render(request, "agent/publish.html", shown, status=status)
