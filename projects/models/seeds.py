"""What a new business begins with beside its settings: the sections of a template's `seeds`, planted by their apps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from projects.models import Project

# Puts a section into a project, in the running transaction; a project that has such rows already is left as it is.
Plant = Callable[[Project, Any], None]

# Filled by the apps whose rows these are, when they are ready.
PLANTS: dict[str, Plant] = {}


def plant_seeds(project: Project, seeds: Mapping[str, Any]) -> None:
    """Plant every section. Raises KeyError for one that no app knows."""
    for section, document in seeds.items():
        PLANTS[section](project, document)
