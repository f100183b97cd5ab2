"""The todo types of a new project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from projects.models import Member, Project, Role
from todos.models import TodoType

# A placeholder in templates for the e-mail address of the owner.
OWNER = "{owner}"


def plant_todo_types(project: Project, document: Iterable[Mapping[str, Any]]) -> None:
    """Create the types of a template, unless the project already has types, removed ones included."""
    if not TodoType.objects.filter(project=project).exists():
        TodoType.objects.bulk_create(
            TodoType(project=project, **{**row, "recipients": _addresses(row)}) for row in document
        )


def _addresses(row: Mapping[str, Any]) -> list[str]:
    """The recipients of a template's type, with OWNER replaced by the owner's address, or removed while there is no
    owner.
    """
    wanted = row.get("recipients", [])
    if OWNER not in wanted:
        return list(wanted)
    owner = Member.objects.filter(role=Role.OWNER).select_related("user").order_by("pk").first()
    return [owner.user.email if one == OWNER and owner else one for one in wanted if one != OWNER or owner]
