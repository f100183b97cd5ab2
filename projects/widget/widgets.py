"""A project's widget: allowed origins, theme, and the secret for signing shoppers' identities."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.utils.translation import gettext
from pydantic import ValidationError

from projects.agents.concurrent_edits import Facts, SavedMeanwhile, changes_of, join, last_to_change
from projects.common import crypto
from projects.common.origins import MAX_LENGTH, InvalidOrigin, origin_of
from projects.common.translation import lazy
from projects.models import AuditAction, Project, User, Widget
from projects.models.agent_errors import SettingsRefused, sentences
from projects.models.organization import lock_project
from projects.records.audit import record_change
from projects.widget.theme import WidgetTheme
from tenancy.prepared_queries import PreparedQuery

MOST_ORIGINS = 30
SECRET_FIELD = "widget:shopper"  # noqa: S105  # the ciphertext is bound to it
SUBJECT = "the widget"
# Labels on the widget page that differ from the field names.
TITLES = {
    "brand": lazy("Color"),
    "position": lazy("Side"),
    "scheme": lazy("Light or dark"),
    "language": lazy("Language of its buttons"),
    "call_button": lazy("Call button"),
}


@dataclass(frozen=True)
class WidgetEdit:
    """The entered settings; `origins` are lines of text."""

    origins: Sequence[str]
    theme: Mapping[str, Any]
    is_enabled: bool


_WIDGET = PreparedQuery(lambda project: Widget.objects.filter(project_id=project).order_by("pk")[:1], kinds=(UUID,))


def find_widget(project_id: UUID) -> Widget | None:
    """The project's widget, or None if it was never set up."""
    return next(iter(_WIDGET(project_id)), None)


def theme_of(widget: Widget | None) -> WidgetTheme:
    """The widget's theme, or the default if the stored one is not valid in this version."""
    try:
        return WidgetTheme.model_validate(widget.theme if widget else {})
    except ValidationError:
        return WidgetTheme()


def save_widget(project: Project, edit: WidgetEdit, *, by: User | None, seen: Facts | None = None) -> Widget:
    """Create or change the widget.

    `seen` are its facts when editing began: changes made by others since are merged, and conflicting ones raise
    SavedMeanwhile and save nothing. Without `seen` the last write wins. Raises SettingsRefused with a sentence per
    field.
    """
    lock_project(project.pk)
    origins, theme = _checked(edit)
    widget = find_widget(project.pk) or Widget(project=project)
    before = facts_of(None if widget._state.adding else widget)
    after = _as_facts(origins, theme.model_dump(mode="json"), is_enabled=edit.is_enabled)
    if before and seen is not None:
        after = _merge(project, seen, current=before, typed=after)
    joined = edit_of(after)
    widget.origins, widget.theme, widget.is_enabled = list(joined.origins), dict(joined.theme), joined.is_enabled
    widget.save()
    if before != after:
        _record(AuditAction.WIDGET_CHANGED, project, by=by, before=before, after=after)
    return widget


def facts_of(widget: Widget | None) -> dict[str, Any]:
    """The settings for the audit log and the edit form, without the secret; empty before the widget is set up."""
    return _as_facts(list(widget.origins), widget.theme, is_enabled=widget.is_enabled) if widget else {}


def edit_of(facts: Facts) -> WidgetEdit:
    """The edit that produces these facts."""
    theme = {name: value for name, value in facts.items() if name not in ("sites", "switched_on")}
    return WidgetEdit(origins=facts["sites"], theme=theme, is_enabled=facts["switched_on"] == "yes")


def checked_origins(lines: Sequence[str]) -> list[str]:
    """The distinct origins, in order. Raises NoOrigin with the number of the line."""
    found: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LENGTH:
            raise InvalidOrigin(
                gettext("Line %(number)s has %(line)s characters; the limit is %(max_length)s.")
                % {"number": number, "line": len(line), "max_length": MAX_LENGTH}
            )
        try:
            found[origin_of(line)] = None
        except InvalidOrigin as error:
            raise InvalidOrigin(gettext("Line %(number)s: %(error)s") % {"number": number, "error": error}) from error
    if len(found) > MOST_ORIGINS:
        raise InvalidOrigin(
            gettext("Use at most %(most_origins)s sites. There are %(found)s.")
            % {"most_origins": MOST_ORIGINS, "found": len(found)}
        )
    return list(found)


def renew_shopper_secret(project: Project, *, by: User | None) -> str:
    """Create a new secret and return it, this once. Tokens signed with the old one are rejected from now on."""
    secret = secrets.token_urlsafe(32)
    sealed = crypto.encrypt(secret, organization_id=_tenant(project), field=SECRET_FIELD)
    if not Widget.objects.filter(project=project).update(shopper_secret=sealed):
        raise SettingsRefused({"shopper_secret": gettext("Save the widget before you create a secret.")})
    _record(AuditAction.WIDGET_SECRET, project, by=by)
    return secret


def shopper_secret(widget: Widget) -> str:
    """The key of shoppers' identity tokens; empty if none was created. Raises WrongSecret."""
    if not widget.shopper_secret:
        return ""
    organization_id = cast(UUID, widget.organization_id)
    return crypto.decrypt(widget.shopper_secret, organization_id=organization_id, field=SECRET_FIELD)


def _checked(edit: WidgetEdit) -> tuple[list[str], WidgetTheme]:
    errors: dict[str, str] = {}
    origins, theme = [], WidgetTheme()
    try:
        origins = checked_origins(edit.origins)
    except InvalidOrigin as error:
        errors["origins"] = str(error)
    try:
        theme = WidgetTheme.model_validate(edit.theme)
    except ValidationError as error:
        errors.update(sentences(error))
    if errors:
        raise SettingsRefused(errors)
    return origins, theme


def _as_facts(origins: Sequence[str], theme: Mapping[str, Any], *, is_enabled: bool) -> dict[str, Any]:
    return {"sites": origins, **theme, "switched_on": "yes" if is_enabled else "no"}


def _merge(project: Project, seen: Facts, *, current: Facts, typed: Facts) -> dict[str, Any]:
    values, is_conflict = join(seen, current=current, typed=typed)
    if is_conflict:
        changes = changes_of(current, values, titles=TITLES)
        by = last_to_change(project, SUBJECT, AuditAction.WIDGET_CHANGED)
        raise SavedMeanwhile(by=by, values=values, changes=changes)
    return values


def _record(
    action: AuditAction,
    project: Project,
    *,
    by: User | None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    tenant = _tenant(project)
    record_change(action, organization_id=tenant, by=by, subject=SUBJECT, project=project, before=before, after=after)


def _tenant(project: Project) -> UUID:
    return cast(UUID, project.organization_id)
