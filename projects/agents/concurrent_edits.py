"""Optimistic locking for unversioned settings: the form carries the values it was loaded with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.common.differences import Change, label_of
from projects.common.merge import merge
from projects.models import AuditAction, AuditEntry, Project

# The form field with the values it was loaded with.
SEEN = "seen"

Facts = Mapping[str, Any]


class SavedMeanwhile(Conflict):
    """Someone else (`by`) changed the same settings.

    `values` holds the merged edit, with the editor's own values where the two conflict. `changes` lists the differences
    from the stored settings.
    """

    def __init__(self, *, by: str, values: Facts, changes: Sequence[Change]) -> None:
        super().__init__(
            gettext("%(by)s changed these settings while you were editing.") % {"by": by}, code="changed_meanwhile"
        )
        self.by = by
        self.values = dict(values)
        self.changes = list(changes)


def join(seen: Facts, *, current: Facts, typed: Facts) -> tuple[dict[str, Any], bool]:
    """The three-way merge of an edit, and True if both sides changed the same field. In a conflict the `typed` value is
    kept.
    """
    parts = {name: merge(seen.get(name), theirs=current.get(name), mine=value) for name, value in typed.items()}
    return {name: part.value for name, part in parts.items()}, any(part.is_conflict for part in parts.values())


def changes_of(current: Facts, values: Facts, *, titles: Mapping[str, str]) -> list[Change]:
    """The differences between the stored settings and new values, labeled with the page's titles."""
    return [
        Change(titles.get(name, label_of(name)), _plain(current.get(name)), _plain(value))
        for name, value in values.items()
        if value != current.get(name)
    ]


def last_to_change(project: Project, subject: str, *actions: AuditAction) -> str:
    """The name of the last person in the audit log who took one of these actions."""
    entries = AuditEntry.objects.filter(project_name=project.name, subject=subject, action__in=actions).order_by("-pk")
    return entries.values_list("actor", flat=True).first() or gettext("Someone")


def as_text(seen: Facts) -> str:
    """The loaded values, serialized for the hidden field. They contain no secret."""
    return json.dumps(seen, ensure_ascii=False, sort_keys=True)


def read_seen(text: str) -> dict[str, Any]:
    """The loaded values; empty if the field is missing or invalid, which makes any stored value a concurrent change."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
