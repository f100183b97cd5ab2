"""Types of todos: creation, changes and removal, with validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext

from projects.api.serializers import is_empty
from projects.common.api_error import ApiError, Conflict, Unprocessable
from projects.models import Project, Role
from projects.models.organization import lock_project
from todos.content.plans import checked_recipients
from todos.content.snapshot import compiled_tools
from todos.models import SecondApprover, TodoType
from tools.engine.definition import Trigger

MOST_TYPES = 50
LONGEST_NAME = 80
LONGEST_DESCRIPTION = 4_000
LONGEST_HOURS = 24 * 365
HIGHEST_LIMIT = 10**11
APPROVERS = (Role.OPERATOR, Role.ADMIN, Role.OWNER)
FIELDS = (
    "name",
    "description",
    "tools",
    "model",
    "recipients",
    "approver_role",
    "second_approver",
    "limit_argument",
    "limit_value",
    "expires_after_hours",
    "is_extracted",
)


def types_of(project: Project) -> QuerySet[TodoType]:
    """The project's types by name, without removed ones."""
    return TodoType.objects.filter(project=project, is_removed=False).order_by("name")


def get_type(project: Project, type_id: UUID) -> TodoType:
    """Return one of the project's types. Raises Http404, also for a removed one."""
    found = types_of(project).filter(pk=type_id).first()
    if found is None:
        raise Http404
    return found


def find_type(project: Project, wanted: str) -> TodoType:
    """The type with this id or name. Raises ApiError that lists the available types."""
    for todo_type in types_of(project):
        if wanted in (str(todo_type.pk), todo_type.name):
            return todo_type
    names = ", ".join(types_of(project).values_list("name", flat=True)) or "none yet"
    raise Unprocessable(
        "invalid_type", gettext("type: no such type. Available types: %(names)s.") % {"names": names}, field="type"
    )


def save_type(
    project: Project, fields: Mapping[str, Any], *, type_id: UUID | None = None, started_from: str | None = None
) -> TodoType:
    """Create a type, or change the one with `type_id`. `fields` holds any of FIELDS.

    `started_from` is the type's `updated_at` in ISO 8601 when the editor loaded it. Raises ApiError that names the
    field, Conflict if the type was saved since, and Http404.

    A change of name, model, tools or recipients voids the approvals of the type's todos.
    """
    lock_project(project.pk)
    todo_type = get_type(project, type_id) if type_id else TodoType(project=project)
    if started_from is not None and started_from != todo_type.updated_at.isoformat():
        raise Conflict(
            gettext("Somebody else saved %(name)s%(todo_type)s. Save again to apply your changes.")
            % {"name": todo_type.name, "todo_type": _differences(todo_type, fields)},
            code="changed_meanwhile",
        )
    if unknown := [name for name in fields if name not in FIELDS]:
        raise ApiError("forbidden_field", gettext("%(value)s cannot be set.") % {"value": unknown[0]}, field=unknown[0])
    for name, value in fields.items():
        setattr(todo_type, name, value.strip() if isinstance(value, str) else value)
    _check(todo_type, is_named="name" in fields, has_tools="tools" in fields)
    todo_type.save()
    return todo_type


def remove_type(project: Project, type_id: UUID) -> None:
    """Remove a type. Its todos stay, but can't be approved until they get another type. Raises Http404."""
    # A concurrent save would write `is_removed` back to False.
    lock_project(project.pk)
    todo_type = get_type(project, type_id)
    todo_type.is_removed = True
    todo_type.save(update_fields=["is_removed", "updated_at"])


def restore_type(project: Project, type_id: UUID) -> TodoType:
    """Bring back a removed type. Raises Http404, and Conflict if another type has its name by now."""
    lock_project(project.pk)
    todo_type = TodoType.objects.filter(project=project, pk=type_id).first()
    if todo_type is None:
        raise Http404
    if todo_type.is_removed and types_of(project).filter(name__iexact=todo_type.name).exists():
        raise Conflict(
            gettext("Another type is named %(name)s.") % {"name": todo_type.name}, code="name_taken", field="name"
        )
    todo_type.is_removed = False
    todo_type.save(update_fields=["is_removed", "updated_at"])
    return todo_type


def task_tools(project: Project) -> list[str]:
    """The names of the tools that a type may have."""
    return [name for name, tool in compiled_tools(project).items() if Trigger.TASK in tool.moments]


def _differences(todo_type: TodoType, fields: Mapping[str, Any]) -> str:
    """A phrase that lists the submitted fields that differ from the stored ones."""
    names = [name.replace("_", " ") for name, value in fields.items() if getattr(todo_type, name, value) != value]
    return f" with a different {', '.join(names)}" if names else ""


def _check(todo_type: TodoType, *, is_named: bool, has_tools: bool) -> None:
    """Raise ApiError for the first invalid field. Tools are checked only if given: stored ones may have been deleted
    since.
    """
    _check_texts(todo_type)
    if is_named or todo_type._state.adding:
        _check_name(todo_type)
    if has_tools:
        todo_type.tools = _checked_tools(todo_type.project, todo_type.tools)
    todo_type.recipients = checked_recipients(todo_type.recipients)
    if todo_type.approver_role not in APPROVERS:
        raise _invalid("approver_role", gettext("must be one of: %(approvers)s.") % {"approvers": ", ".join(APPROVERS)})
    if not _is_whole(todo_type.expires_after_hours) or not 1 <= todo_type.expires_after_hours <= LONGEST_HOURS:
        raise _invalid(
            "expires_after_hours",
            gettext("must be between 1 and %(longest_hours)s.") % {"longest_hours": format(LONGEST_HOURS, ",")},
        )
    _check_second(todo_type)


def _check_texts(todo_type: TodoType) -> None:
    for name, longest in (("name", LONGEST_NAME), ("description", LONGEST_DESCRIPTION)):
        text = getattr(todo_type, name)
        if is_empty(text):
            raise _invalid(name, gettext("is empty."))
        if len(text) > longest:
            raise _invalid(
                name,
                gettext("has %(count)s characters; the limit is %(longest)s.")
                % {"count": format(len(text), ","), "longest": format(longest, ",")},
            )
    if len(todo_type.model) > 120:
        raise _invalid(
            "model",
            gettext("has %(count)s characters; the limit is 120.") % {"count": format(len(todo_type.model), ",")},
        )


def _check_name(todo_type: TodoType) -> None:
    other_types = types_of(todo_type.project).exclude(pk=todo_type.pk)
    if other_types.filter(name__iexact=todo_type.name).exists():
        raise Conflict(
            gettext("A type named %(name)s already exists.") % {"name": todo_type.name}, code="name_taken", field="name"
        )
    if other_types.count() >= MOST_TYPES:
        raise Conflict(
            gettext("A project can have at most %(most_types)s types. Remove one first.") % {"most_types": MOST_TYPES},
            code="too_many",
        )


def _checked_tools(project: Project, names: Sequence[Any]) -> list[str]:
    """The names, if each is a tool that can run in a todo and none is repeated. Raises ApiError."""
    known = compiled_tools(project)
    for at, name in enumerate(names):
        if name in names[:at]:
            raise _invalid("tools", gettext("contains %(name)s twice.") % {"name": name})
        tool = known.get(name)
        if tool is None:
            close = _suggestion(name, task_tools(project))
            raise _invalid(
                "tools",
                gettext("contains '%(name)s', which is not a tool.%(close)s")
                % {"name": str(name)[:100], "close": close},
            )
        if Trigger.TASK not in tool.moments:
            raise _invalid("tools", gettext("contains %(name)s, which works only in conversations.") % {"name": name})
    return list(names)


def _check_second(todo_type: TodoType) -> None:
    if todo_type.second_approver not in SecondApprover.values:
        raise _invalid(
            "second_approver", gettext("must be one of: %(values)s.") % {"values": ", ".join(SecondApprover.values)}
        )
    if todo_type.second_approver != SecondApprover.ABOVE:
        todo_type.limit_argument, todo_type.limit_value = "", None
        return
    if not todo_type.limit_argument:
        raise _invalid("limit_argument", gettext("is required: the argument to compare with the limit."))
    limit = todo_type.limit_value
    if limit is None:
        raise _invalid("limit_value", gettext("is required: above it, two people have to approve."))
    if isinstance(limit, bool) or not isinstance(limit, int | float | Decimal) or not 0 <= limit <= HIGHEST_LIMIT:
        raise _invalid(
            "limit_value",
            gettext("must be a number from 0 to %(highest_limit)s.") % {"highest_limit": format(HIGHEST_LIMIT, ",")},
        )


def _suggestion(name: Any, known: list[str]) -> str:
    close = get_close_matches(str(name)[:100], known, n=1)
    return f" Did you mean {close[0]}?" if close else f" Available tools: {', '.join(known)}."


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _invalid(field: str, what: str) -> ApiError:
    return Unprocessable(f"invalid_{field}", f"{field} {what}", field=field)
