"""The settings form of each section."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.agent.nested_form_data import Node, note_of, number_of, read_entries, text_of
from console.agent.page import form_context, tab_url
from console.agent.sections import HOURS, MODELS, SECTIONS, Section
from projects.agents.agent_versions import ChangedMeanwhile, Edit, change_agent
from projects.agents.model_choice import key_attribute
from projects.agents.model_key import change_key, has_stored_key, is_key_lost
from projects.agents.services import latest_agent_version
from projects.agents.templates_catalogue import confirm_hours
from projects.models import AgentVersion, User
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx

BY_SLUG = {section.slug: section for section in SECTIONS}


@login_required
@require_http_methods(["GET", "POST"])
def settings_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show a section; POST saves it."""
    is_saved = request.method == "POST"
    verb = Scope.CONFIGURE if is_saved else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb)
    if is_saved:
        return _save(request, entry, BY_SLUG[section])
    return show_section(request, form_context(request, entry, BY_SLUG[section]), entry)


def show_section(request: HttpRequest, context: dict[str, Any], entry: Entry, *, status: int = 200) -> HttpResponse:
    """Render a section from its form context."""
    if context["section"] is MODELS:
        context |= _key_context(entry, url=str(context["document"]["model_base_url"]))
    return render(request, "agent/section.html", context, status=status)


def _key_context(entry: Entry, *, url: str) -> dict[str, bool]:
    """The state of the key for the model at `url`: whether one is stored, and whether it can't be read any more."""
    with tenant_tx(entry.project.organization.pk):
        attribute = key_attribute(entry.project, url)
        return {
            "has_key": has_stored_key(entry.project, attribute=attribute),
            "is_key_lost": is_key_lost(entry.project, attribute=attribute),
        }


def _save(request: HttpRequest, entry: Entry, section: Section) -> HttpResponse:
    entries = read_entries(request.POST)
    changes = section.read(entries)
    try:
        message = _apply(entry, section, entries=entries, author=cast(User, request.user))
    except SettingsRefused as refusal:
        context = form_context(request, entry, section, changes=changes, errors=refusal.errors)
        context |= {"started_from": number_of(entries, "started_from"), "note": text_of(entries, "note")}
        return show_section(request, context, entry, status=422)
    except ChangedMeanwhile as conflict:
        context = form_context(request, entry, section, conflict=conflict)
        return show_section(request, {**context, "note": text_of(entries, "note")}, entry, status=409)
    messages.success(request, message)
    return redirect(tab_url(entry.project.slug, section.slug))


def _apply(entry: Entry, section: Section, *, entries: Node, author: User) -> str:
    """Save the submitted values; return the success message. Raises SettingsRefused, ChangedMeanwhile."""
    changes = section.read(entries)
    edit = Edit(changes, number_of(entries, "started_from"), author, note_of(entries))
    with tenant_tx(entry.project.organization.pk):
        before = latest_agent_version(entry.project)
        after = change_agent(entry.project, edit)
        if problems := section.problems(changes):
            raise SettingsRefused(problems)
        is_confirmed = section is HOURS and confirm_hours(entry.project)
        has_new_key = section is MODELS and _save_key(entry, entries, before=before, after=after)
    if after.number != before.number:
        if edit.started_from != before.number:
            return gettext("Draft saved, merged with version %(number)s. Publish it when it’s ready.") % {
                "number": before.number
            }
        return gettext("Draft saved. Publish it to make it live.")
    if is_confirmed:
        return gettext("Hours confirmed.")
    return gettext("Key saved.") if has_new_key else gettext("No changes to save.")


def _save_key(entry: Entry, entries: Node, *, before: AgentVersion, after: AgentVersion) -> bool:
    """Save or remove the model key. Return True if the form asked for either."""
    key, is_removed = text_of(entries, "model_api_key"), bool(text_of(entries, "remove_key"))
    urls = {"old_url": before.document.get("model_base_url", ""), "new_url": after.document.get("model_base_url", "")}
    typed = str(MODELS.read(entries)["model_base_url"])
    change_key(entry.project, key=key, is_removed=is_removed, **urls, typed_url=typed)
    return bool(key or is_removed)
