"""Two people at the same settings of which no versions are kept: what a form began with travels in it, and comes back with
what was typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from projects.common.api_error import Conflict
from projects.common.differences import Change, label_of
from projects.common.merge import merge
from projects.models import AuditAction, AuditEntry, Project

# The field of a form that holds what it began with.
SEEN = "seen"

Facts = Mapping[str, Any]


class SavedMeanwhile(Conflict):
    """Somebody else, `by` name, saved the same meanwhile. `values` holds both changes, and the editor's own where they meet;
    `changes` is how they differ from what stands.
    """

    def __init__(self, *, by: str, values: Facts, changes: Sequence[Change]) -> None:
        super().__init__(f"{by} saved the same meanwhile.", code="changed_meanwhile")
        self.by = by
        self.values = dict(values)
        self.changes = list(changes)


def join(seen: Facts, *, standing: Facts, typed: Facts) -> tuple[dict[str, Any], bool]:
    """What was typed with what others changed since it was `seen`, and whether both changed the same; there what was typed stands."""
    parts = {name: merge(seen.get(name), theirs=standing.get(name), mine=value) for name, value in typed.items()}
    return {name: part.value for name, part in parts.items()}, any(part.is_conflict for part in parts.values())


def changes_of(standing: Facts, values: Facts, *, titles: Mapping[str, str]) -> list[Change]:
    """How values differ from what stands, under the titles that the page gives them."""
    return [
        Change(titles.get(name, label_of(name)), _plain(standing.get(name)), _plain(value))
        for name, value in values.items()
        if value != standing.get(name)
    ]


def last_to_change(project: Project, subject: str, *actions: AuditAction) -> str:
    """Who changed it last, in one of these ways, as the trail names them."""
    entries = AuditEntry.objects.filter(project_name=project.name, subject=subject, action__in=actions).order_by("-pk")
    return entries.values_list("actor", flat=True).first() or "Somebody"


def as_text(seen: Facts) -> str:
    """What a form begins with, for its hidden field. No secret stands in it."""
    return json.dumps(seen, ensure_ascii=False, sort_keys=True)


def read_seen(text: str) -> dict[str, Any]:
    """What a form began with; nothing, where it doesn't say: then whatever stands came meanwhile."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
