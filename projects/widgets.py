"""A project's widget: where it may stand, how it looks, and the secret that a shop signs its shoppers with (design section 6)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from pydantic import ValidationError

from projects import crypto
from projects.agent_sentences import SettingsRefused, sentences
from projects.audit import note_change
from projects.models import AuditAction, Project, User, Widget
from projects.origins import LONGEST, NoOrigin, origin_of
from projects.widget_theme import WidgetTheme

MOST_ORIGINS = 30
SECRET_FIELD = "widget:shopper"  # noqa: S105  # what the ciphertext is bound to
SUBJECT = "the widget"


@dataclass(frozen=True)
class WidgetEdit:
    """What was typed about a widget; `origins` as lines."""

    origins: Sequence[str]
    theme: Mapping[str, Any]
    is_enabled: bool


def find_widget(project: Project) -> Widget | None:
    """The project's widget, if it was ever set up."""
    return Widget.objects.filter(project=project).first()


def theme_of(widget: Widget | None) -> WidgetTheme:
    """How it looks; of a stored theme that a newer version of the product refuses, the default."""
    try:
        return WidgetTheme.model_validate(widget.theme if widget else {})
    except ValidationError:
        return WidgetTheme()


def save_widget(project: Project, edit: WidgetEdit, *, by: User | None) -> Widget:
    """Set the widget up, or change it. Two at once: the later one holds. Raises SettingsRefused with a sentence for each field."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    origins, theme = _checked(edit)
    widget = find_widget(project) or Widget(project=project)
    before = {} if widget._state.adding else _facts(widget)
    widget.origins, widget.theme, widget.is_enabled = origins, theme.model_dump(mode="json"), edit.is_enabled
    widget.save()
    if before != _facts(widget):
        _note(AuditAction.WIDGET_CHANGED, project, by=by, before=before, after=_facts(widget))
    return widget


def renew_shopper_secret(project: Project, *, by: User | None) -> str:
    """A new secret, given back this once. What was signed with the old one is refused from now on."""
    secret = secrets.token_urlsafe(32)
    sealed = crypto.encrypt(secret, organization_id=_tenant(project), field=SECRET_FIELD)
    if not Widget.objects.filter(project=project).update(shopper_secret=sealed):
        raise SettingsRefused({"shopper_secret": "Save the widget first; then it can have a secret."})
    _note(AuditAction.WIDGET_SECRET, project, by=by)
    return secret


def shopper_secret(widget: Widget) -> str:
    """What shoppers' tokens are signed with; empty while nothing was made. Raises WrongSecret."""
    if not widget.shopper_secret:
        return ""
    organization_id = cast(UUID, widget.organization_id)
    return crypto.decrypt(widget.shopper_secret, organization_id=organization_id, field=SECRET_FIELD)


def _checked(edit: WidgetEdit) -> tuple[list[str], WidgetTheme]:
    errors: dict[str, str] = {}
    origins, theme = [], WidgetTheme()
    try:
        origins = checked_origins(edit.origins)
    except NoOrigin as error:
        errors["origins"] = str(error)
    try:
        theme = WidgetTheme.model_validate(edit.theme)
    except ValidationError as error:
        errors.update(sentences(error))
    if errors:
        raise SettingsRefused(errors)
    return origins, theme


def checked_origins(lines: Sequence[str]) -> list[str]:
    """Each site once, in order. Raises NoOrigin, which names the line."""
    found: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > LONGEST:
            raise NoOrigin(f"Line {number} has {len(line)} characters; the limit is {LONGEST}.")
        try:
            found[origin_of(line)] = None
        except NoOrigin as error:
            raise NoOrigin(f"Line {number}: {error}") from error
    if len(found) > MOST_ORIGINS:
        raise NoOrigin(f"At most {MOST_ORIGINS} sites; there are {len(found)}.")
    return list(found)


def _facts(widget: Widget) -> dict[str, Any]:
    """What a trail may keep of it: everything but the secret."""
    return {"sites": list(widget.origins), **widget.theme, "switched_on": "yes" if widget.is_enabled else "no"}


def _note(
    action: AuditAction,
    project: Project,
    *,
    by: User | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    tenant = _tenant(project)
    note_change(action, organization_id=tenant, by=by, subject=SUBJECT, project=project, before=before, after=after)


def _tenant(project: Project) -> UUID:
    return cast(UUID, project.organization_id)
