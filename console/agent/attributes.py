"""The attributes page. Project values override organization values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from console.agent.nested_form_data import Node, part_of, read_entries, rows_of, text_of
from console.agent.page import page_context, tab_url
from console.restorations import snapshot_of
from console.undo import announce_undoable
from projects.agents.attribute_changes import AttributeEdit, change_attributes, check_new_key, text_of_value
from projects.agents.model_choice import KEY_ATTRIBUTES
from projects.models import Project, User
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import Attribute, AttributeType
from projects.models.attribute_catalogue import (
    KNOWN_SETTINGS,
    LIMIT_SETTINGS,
    SETTING,
    VOICE_SETTINGS,
    KnownSetting,
    attribute_label,
    value_label,
)
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from projects.records.attributes import ENUMS, Resolved, every_attribute, unset_attribute
from tenancy.scope import tenant_tx


@dataclass(frozen=True)
class Row:
    """An attribute in the form. `was` is the value when the form was rendered."""

    index: int
    key: str
    label: str
    type: AttributeType
    text: str
    was: str
    origin: str
    tools: tuple[str, ...] = ()
    choices: Sequence[tuple[str, str]] = ()
    error: str = ""

    @property
    def is_number(self) -> bool:
        """True for a limit, which is entered in one line."""
        return self.key in LIMIT_SETTINGS

    @property
    def short(self) -> str:
        """The key without the prefix of the product's own settings."""
        return f"…\N{WORD JOINER}{self.key.removeprefix(SETTING)}" if self.key.startswith(SETTING) else self.key


@login_required
@require_http_methods(["GET", "POST"])
def attributes_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show the project's attributes; POST saves them."""
    is_saved = request.method == "POST"
    verb = Scope.CONFIGURE if is_saved else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb, is_developer=True)
    return _save(request, entry) if is_saved else _show(request, entry)


def _show(
    request: HttpRequest,
    entry: Entry,
    *,
    typed: Mapping[str, str] | None = None,
    new: Node | None = None,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    with tenant_tx(entry.project.organization.pk):
        rows = _rows(entry.project, typed=typed or {}, errors=errors or {})
    context = {
        **page_context(request, entry, tab="attributes"),
        "switches": [row for row in rows if row.tools],
        "limits": [row for row in rows if row.key in LIMIT_SETTINGS],
        "others": [row for row in rows if not row.tools and row.key not in LIMIT_SETTINGS],
        "types": AttributeType.choices,
        "new": new or {},
        "errors": errors or {},
    }
    return render(request, "agent/attributes.html", context, status=422 if errors else 200)


def _save(request: HttpRequest, entry: Entry) -> HttpResponse:
    entries = read_entries(request.POST)
    edits = [_edit(row) for row in rows_of(entries, "rows")]
    new = part_of(entries, "new")
    unset = text_of(entries, "unset").replace("\0", "")
    try:
        with tenant_tx(entry.project.organization.pk):
            before = Attribute.objects.filter(project=entry.project, key=unset).first() if unset else None
            message = _apply(entry.project, edits, new=new, unset=unset)
            is_unset = before is not None and not Attribute.objects.filter(pk=before.pk).exists()
    except SettingsRefused as refusal:
        typed = {edit.key: edit.text for edit in edits}
        return _show(request, entry, typed=typed, new=new, errors=_placed(refusal.errors, new=new))
    if before is not None and is_unset:
        announce_undoable(request, entry, message, kind="attribute", kept=snapshot_of(before))
    else:
        messages.success(request, message)
    return redirect(tab_url(entry.project.slug, "attributes"))


def _apply(project: Project, edits: list[AttributeEdit], *, new: Node, unset: str) -> str:
    added = _new_edit(project, new)
    changed = change_attributes(project, [*edits, *added])
    # The model key has its own page and removal rule.
    if unset and unset not in KEY_ATTRIBUTES and unset_attribute(project, unset):
        return gettext("%(unset)s unset. The organization’s value applies, if any.") % {"unset": attribute_label(unset)}
    if not changed:
        return gettext("No changes to save.")
    saved = ngettext("%(number)s attribute saved.", "%(number)s attributes saved.", len(changed))
    return saved % {"number": len(changed)}


def _new_edit(project: Project, new: Node) -> list[AttributeEdit]:
    key, text = text_of(new, "key"), text_of(new, "value")
    if not key and not text:
        return []
    check_new_key(project, key)
    kind = _type_of(text_of(new, "type"))
    if not text:
        raise SettingsRefused({"new.value": gettext("Enter a value. For a switch, enter True or False.")})
    return [AttributeEdit(key, kind, text, is_new=True)]


def _edit(row: Node) -> AttributeEdit:
    kind = _type_of(text_of(row, "type"))
    text = text_of(row, "value")
    if kind is AttributeType.BOOL:
        text = "True" if text else "False"
    return AttributeEdit(text_of(row, "key"), kind, text, text_of(row, "was"))


def _type_of(text: str) -> AttributeType:
    return AttributeType(text) if text in AttributeType.values else AttributeType.STRING


def _placed(errors: Mapping[str, str], *, new: Node) -> dict[str, str]:
    """Move errors about the new attribute to its value field."""
    key = text_of(new, "key")
    return {("new.value" if path == key else path): text for path, text in errors.items()}


def _rows(project: Project, *, typed: Mapping[str, str], errors: Mapping[str, str]) -> list[Row]:
    found = every_attribute(project)
    known = {setting.key: setting for setting in KNOWN_SETTINGS}
    named = [*known, *LIMIT_SETTINGS, *VOICE_SETTINGS]
    keys = [*named, *(key for key in sorted(found) if key not in named and key not in KEY_ATTRIBUTES)]
    return [
        _row(index, key, known.get(key), found.get(key), text=typed.get(key), error=errors.get(key, ""))
        for index, key in enumerate(keys)
    ]


def _row(
    index: int, key: str, known: KnownSetting | None, found: Resolved | None, *, text: str | None, error: str
) -> Row:
    new = AttributeType.JSON if key in LIMIT_SETTINGS else AttributeType.STRING
    kind = found.type if found else known.type if known else new
    saved = text_of_value(found)
    return Row(
        index=index,
        key=key,
        label=attribute_label(key),
        type=kind,
        text="" if kind is AttributeType.SECRET else saved if text is None else text,
        was=saved,
        origin=found.origin if found else "",
        tools=known.tools if known else (),
        choices=[(value, value_label(value)) for value in ENUMS.get(key, ())],
        error=error,
    )
