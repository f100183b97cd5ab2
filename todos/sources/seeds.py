"""The types of todos that a new business begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from projects.models import Member, Project, Role
from todos.models import TodoType

# Stands in a template for the address of whoever owns the new business.
OWNER = "{owner}"


def plant_todo_types(project: Project, document: Iterable[Mapping[str, Any]]) -> None:
    """The types of a template. A project that has any, also removed ones, is left as it is."""
    if not TodoType.objects.filter(project=project).exists():
        TodoType.objects.bulk_create(
            TodoType(project=project, **{**row, "recipients": _addresses(row)}) for row in document
        )


def _addresses(row: Mapping[str, Any]) -> list[str]:
    """The addresses of a template's type, with the owner's for OWNER; nobody's while there is no owner."""
    wanted = row.get("recipients", [])
    if OWNER not in wanted:
        return list(wanted)
    owner = Member.objects.filter(role=Role.OWNER).select_related("user").order_by("pk").first()
    return [owner.user.email if one == OWNER and owner else one for one in wanted if one != OWNER or owner]
