"""How long a project keeps each kind of record: attributes of the project, or of its organization for all projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from projects.models import Project
from projects.models.attribute_catalogue import RETENTION_SETTINGS
from projects.records.attributes import SHAPES, WrongValue, resolve_attributes
from tenancy.personal_data import Kept

FOREVER = "forever"
LONGEST_DAYS = 36_500
# The least that keeps repeats of finished work recognizable (jobs), and leaves conversations that still go on alone.
FEWEST_DAYS: Mapping[Kept, int] = {Kept.ARCHIVE: 7, Kept.JOBS: 2}
DEFAULT_DAYS: Mapping[Kept, int | None] = {
    Kept.TRANSCRIPTS: None,
    Kept.ARCHIVE: None,
    Kept.EVENTS: 365,
    Kept.PROMPTS: 30,
    Kept.EFFECTS: None,
    Kept.JOBS: 14,
}
KEYS: Mapping[Kept, str] = {Kept(kind): key for kind, key in RETENTION_SETTINGS.items()}


@dataclass(frozen=True)
class Policy:
    """The days that each kind is kept. None keeps it until somebody deletes it."""

    days: Mapping[Kept, int | None]

    def age_of(self, kind: Kept) -> timedelta | None:
        """The age from which records of a kind are deleted; None for never."""
        days = self.days[kind]
        return None if days is None else timedelta(days=days)


def policy_of(project: Project) -> Policy:
    """The policy of a project, with the defaults for what it hasn't set."""
    attributes = resolve_attributes(project)
    days = {
        kind: _days(attributes[key].value) if (key := KEYS[kind]) in attributes else DEFAULT_DAYS[kind] for kind in Kept
    }
    return Policy(days)


def register_shapes() -> None:
    """Check the attributes when they are set."""
    for kind, key in KEYS.items():
        SHAPES[key] = _checker(kind, key)


def _checker(kind: Kept, key: str) -> Any:
    fewest = FEWEST_DAYS.get(kind, 1)

    def check(value: Any) -> int | str:
        if value == FOREVER:
            return FOREVER
        if not isinstance(value, int) or isinstance(value, bool) or not fewest <= value <= LONGEST_DAYS:
            raise WrongValue(f'{key} must be a whole number of days from {fewest}, like 30, or "{FOREVER}".')
        return value

    return check


def _days(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
