"""What the agent may do itself while it answers, as the page of its settings lists it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from projects.models import Project


@dataclass(frozen=True)
class Ability:
    """A tool that models call. `why_not` says what else keeps it back, whether it is switched on here or not; `where` the
    channels that it is for, if not for all.
    """

    name: str
    lead: str
    why_not: str
    where: str = ""


# Filled by the app whose tools these are, when it is ready.
ABILITIES: dict[str, Callable[[Project], Sequence[Ability]]] = {}


def abilities_of(project: Project) -> list[Ability]:
    """All of them, inside the tenant's transaction."""
    return [ability for find in ABILITIES.values() for ability in find(project)]
