"""The widget page, editable by members who may configure the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, part_of, read_entries, text_of
from console.layout import shell_context
from console.people.one_time_secrets import keep_once, take_once
from conversations.calls.web_calls import offers_calls
from conversations.widget.bundle import widget_catalog
from projects.agents.concurrent_edits import SEEN, SavedMeanwhile, as_text, read_seen
from projects.common.translation import lazy
from projects.common.verticals import VERTICALS
from projects.models import Project, User, Widget
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from projects.widget.theme import CALL_BUTTONS, LANGUAGES, POSITIONS, SCHEMES, WidgetTheme
from projects.widget.widgets import (
    WidgetEdit,
    edit_of,
    facts_of,
    find_widget,
    renew_shopper_secret,
    save_widget,
    theme_of,
)
from tenancy.scope import tenant_tx

SECRET = "widget_shopper"  # noqa: S105  # a session key
LANGUAGE_NAMES = {
    "auto": lazy("Match the page"),
    "en": "English",
    "it": "Italiano",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "nl": "Nederlands",
    "ar": "العربية",
    "he": "עברית",
}
SCHEME_NAMES = {"auto": lazy("Visitor’s device setting"), "light": lazy("Light"), "dark": lazy("Dark")}
CALL_BUTTON_NAMES = {"off": lazy("Off"), "on": lazy("On")}
POSITION_NAMES = {"right": lazy("Bottom right"), "left": lazy("Bottom left")}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def widget_page(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show the widget's settings; POST saves them."""
    is_saved = request.method == "POST"
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE if is_saved else Scope.READ)
    return _save(request, entry) if is_saved else _show(request, entry)


@login_required
@require_POST
def new_secret(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Create a new shopper secret, which the next page shows once."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    organization_id = entry.project.organization.pk
    try:
        with tenant_tx(organization_id):
            secret = renew_shopper_secret(entry.project, by=cast(User, request.user))
    except SettingsRefused as error:
        raise Http404 from error
    keep_once(request, SECRET, secret, organization_id=organization_id)
    return redirect("widget", project_slug)


def _save(request: HttpRequest, entry: Entry) -> HttpResponse:
    entries = read_entries(request.POST)
    edit = WidgetEdit(
        origins=text_of(entries, "origins").split("\n"),
        theme=_theme(part_of(entries, "theme")),
        is_enabled=text_of(entries, "is_enabled") == "on",
    )
    try:
        with tenant_tx(entry.project.organization.pk):
            save_widget(entry.project, edit, by=cast(User, request.user), seen=read_seen(text_of(entries, SEEN)))
    except SettingsRefused as refusal:
        return _show(request, entry, edit=edit, errors=refusal.errors, seen=text_of(entries, SEEN))
    except SavedMeanwhile as conflict:
        return _show(request, entry, edit=edit_of(conflict.values), conflict=conflict)
    messages.success(request, gettext("Widget saved. Pages pick up the change on reload."))
    return redirect("widget", entry.project.slug)


def _theme(typed: Node) -> dict[str, str]:
    """The submitted theme; empty fields fall back to their defaults."""
    return {name: text for name in WidgetTheme.model_fields if (text := text_of(typed, name))}


def _show(
    request: HttpRequest,
    entry: Entry,
    *,
    edit: WidgetEdit | None = None,
    errors: Mapping[str, str] | None = None,
    conflict: SavedMeanwhile | None = None,
    seen: str | None = None,
) -> HttpResponse:
    shell = shell_context(request, entry)
    with tenant_tx(entry.project.organization.pk):
        widget = find_widget(entry.project.pk)
        preview = _preview(entry.project, widget)
    context = {
        **shell,
        "widget": widget,
        "is_enabled": edit.is_enabled if edit else widget.is_enabled if widget else True,
        "form": _form(widget, edit, FormFields(errors or {})),
        "snippet": _snippet(widget) if widget else "",
        "secret": take_once(request, SECRET, organization_id=entry.project.organization.pk),
        "preview": preview,
        "catalog": widget_catalog(),
        "conflict": conflict,
        # A refused form keeps the state it was loaded with; any other starts from the saved one.
        "seen": as_text(facts_of(widget)) if seen is None else seen,
    }
    return render(request, "widget/widget.html", context, status=422 if errors else 409 if conflict else 200)


def _form(widget: Widget | None, edit: WidgetEdit | None, fields: FormFields) -> dict[str, Any]:
    """The form fields with errors, from the saved or submitted values."""
    theme = {**theme_of(widget).model_dump(), **(edit.theme if edit else {})}
    origins = edit.origins if edit else widget.origins if widget else []
    found = {name: fields.field(name, value) for name, value in theme.items()}
    named = {name: replace(field, name=f"theme.{name}") for name, field in found.items()}
    return {
        "origins": fields.field("origins", "\n".join(origins)),
        **named,
        "positions": _choices(POSITIONS, POSITION_NAMES),
        "schemes": _choices(SCHEMES, SCHEME_NAMES),
        "call_buttons": _choices(CALL_BUTTONS, CALL_BUTTON_NAMES),
        "languages": _choices(LANGUAGES, LANGUAGE_NAMES),
    }


def _choices(values: tuple[str, ...], names: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(value, names[value]) for value in values]


def _snippet(widget: Widget) -> str:
    return f'<script async src="{settings.BASE_URL}/widget.js" data-key="{widget.public_key}"></script>'


def _preview(project: Project, widget: Widget | None) -> dict[str, Any]:
    """Data for the preview. The page's script computes its colors while they are being chosen."""
    version = project.agent_version
    config = version.config if version else None
    theme = theme_of(widget)
    openers = config.openers if config else []
    return {
        "name": config.agent_name if config else project.name,
        "business": config.business_name if config else project.name,
        "suggestions": list(openers[:3]),
        "capabilities": sorted(VERTICALS[config.vertical if config else "generic"].capabilities),
        # The customer's first message in the preview.
        "asked": openers[0] if openers else "",
        "greeting": theme.greeting,
        "language": theme.language,
        "calls": offers_calls(project),
        "files": config.take_files if config else True,
        "theme": {**theme.palette(), "position": theme.position, "scheme": theme.scheme},
    }
