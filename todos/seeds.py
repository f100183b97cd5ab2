"""The types of todos that a new business begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from projects.models import Project
from todos.models import TodoType


def plant_todo_types(project: Project, document: Iterable[Mapping[str, Any]]) -> None:
    """The types of a template. A project that has any, also removed ones, is left as it is."""
    if not TodoType.objects.filter(project=project).exists():
        TodoType.objects.bulk_create(TodoType(project=project, **row) for row in document)
