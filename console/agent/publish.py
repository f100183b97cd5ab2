"""The page that compares the draft with the published settings, and publishes or discards it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.agent.nested_form_data import note_of, number_of, read_entries, text_of
from console.agent.page import newer_version, page_context, tab_url
from console.agent.step_tools import lost_tools_warning
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
    started_from, note = number_of(entries, "started_from"), note_of(entries)
    typed = {"note": note, "is_discard": bool(text_of(entries, "discard"))}
    try:
        with tenant_tx(entry.project.organization.pk):
            if typed["is_discard"]:
                discard_draft(entry.project, started_from=started_from, author=author)
                sentence = gettext("Draft discarded. You can restore it from the history.")
            else:
                version = publish_draft(entry.project, started_from=started_from, author=author, note=note)
                sentence = gettext("Version %(number)s is live.") % {"number": version.number}
    except NewerVersion:
        return _show(request, entry, typed=typed, seen=started_from, status=409)
    except NothingToPublish:
        return _show(request, entry, status=409)
    except SettingsRefused as refusal:
        return _show(request, entry, typed=typed, problem=str(refusal), status=422)
    messages.success(request, sentence)
    return redirect(tab_url(entry.project.slug, "publish"))


def _show(
    request: HttpRequest,
    entry: Entry,
    *,
    typed: Mapping[str, Any] | None = None,
    seen: int | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page, with what was typed. `seen` is the version of a page that is no longer current."""
    context = page_context(request, entry, tab="publish")
    if seen is not None:
        problem, context["is_stale"] = newer_version(context, seen=seen), True
    document = context["document"] if context["draft"] else {}
    with tenant_tx(entry.project.organization.pk):
        context["lost_tools"] = lost_tools_warning(entry.project, document)
    context |= {
        **(typed or {}),
        "problem": problem,
        "contradictions": find_contradictions(document) if document else [],
    }
    return render(request, "agent/publish.html", context, status=status)
