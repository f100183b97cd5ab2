"""Seeds: the initial data of a new business, besides its settings. Each app plants the sections it owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from projects.models import Project

# Creates a section's rows in the current transaction, unless the project has such rows already.
Plant = Callable[[Project, Any], None]

# Registered by the apps when they are ready.
PLANTS: dict[str, Plant] = {}


def plant_seeds(project: Project, seeds: Mapping[str, Any]) -> None:
    """Plant every section. Raises KeyError for an unknown one."""
    for section, document in seeds.items():
        PLANTS[section](project, document)
