"""Types of todos: making, changing and removing them, with a sentence for what can't be (L09)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from projects.api.serializers import is_empty
from projects.common.api_error import ApiError, Conflict
from projects.models import Project, Role
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
    """The project's types by name, without those that were removed."""
    return TodoType.objects.filter(project=project, is_removed=False).order_by("name")


def get_type(project: Project, type_id: UUID) -> TodoType:
    """One of the project's types. Raises Http404, also where it was removed."""
    found = types_of(project).filter(pk=type_id).first()
    if found is None:
        raise Http404
    return found


def find_type(project: Project, wanted: str) -> TodoType:
    """The type of this id or name. Raises ApiError that says which there are."""
    for kind in types_of(project):
        if wanted in (str(kind.pk), kind.name):
            return kind
    names = ", ".join(types_of(project).values_list("name", flat=True)) or "none yet"
    raise ApiError("invalid_type", f"type: there is no such type; there are: {names}.", field="type")


def save_type(
    project: Project, fields: Mapping[str, Any], *, type_id: UUID | None = None, started_from: str | None = None
) -> TodoType:
    """Make a type, or change one: `name`, `description`, `tools`, `model`, `recipients`, `approver_role`, `second_approver`,
    `limit_argument`, `limit_value`, `expires_after_hours`, `is_extracted`, any of them. `started_from` is the type's `updated_at`
    in ISO 8601, as the editor has seen it. Raises ApiError that names the field, Conflict where another was saved since, Http404.

    An approval of a todo of the type is void when its name, model or tools change, or whom it writes to.
    """
    _lock(project)
    kind = get_type(project, type_id) if type_id else TodoType(project=project)
    if started_from is not None and started_from != kind.updated_at.isoformat():
        raise Conflict(
            f"Somebody saved {kind.name} meanwhile{_differing(kind, fields)}. What you chose is still here: save again to make it so.",
            code="changed_meanwhile",
        )
    if unknown := [name for name in fields if name not in FIELDS]:
        raise ApiError("forbidden_field", f"{unknown[0]} cannot be set.", field=unknown[0])
    for name, value in fields.items():
        setattr(kind, name, value.strip() if isinstance(value, str) else value)
    _check(kind, is_named="name" in fields, has_tools="tools" in fields)
    kind.save()
    return kind


def remove_type(project: Project, type_id: UUID) -> None:
    """Remove a type. Its todos stay; none of them can be approved before it has another. Raises Http404."""
    # Whoever saves it at this moment would write down that it is there still.
    _lock(project)
    kind = get_type(project, type_id)
    kind.is_removed = True
    kind.save(update_fields=["is_removed", "updated_at"])


def task_tools(project: Project) -> list[str]:
    """The names of the tools that a type may have."""
    return [name for name, tool in compiled_tools(project).items() if Trigger.TASK in tool.moments]


def _differing(kind: TodoType, fields: Mapping[str, Any]) -> str:
    """Which fields an editor wants to be something else than what stands, in words."""
    names = [name.replace("_", " ") for name, value in fields.items() if getattr(kind, name, value) != value]
    return f", and yours differs in {', '.join(names)}" if names else ""


def _lock(project: Project) -> None:
    # One lock for all types of a project: names are compared with each other, and counted.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _check(kind: TodoType, *, is_named: bool, has_tools: bool) -> None:
    """Raise ApiError for the first thing that is wrong. Tools that stood already may be gone meanwhile."""
    _check_texts(kind)
    if is_named or kind._state.adding:
        _check_name(kind)
    if has_tools:
        kind.tools = _checked_tools(kind.project, kind.tools)
    kind.recipients = checked_recipients(kind.recipients)
    if kind.approver_role not in APPROVERS:
        raise _wrong("approver_role", f"must be one of: {', '.join(APPROVERS)}.")
    if not _is_whole(kind.expires_after_hours) or not 1 <= kind.expires_after_hours <= LONGEST_HOURS:
        raise _wrong("expires_after_hours", f"must be between 1 and {LONGEST_HOURS:,}.")
    _check_second(kind)


def _check_texts(kind: TodoType) -> None:
    for name, longest in (("name", LONGEST_NAME), ("description", LONGEST_DESCRIPTION)):
        text = getattr(kind, name)
        if is_empty(text):
            raise _wrong(name, "is empty.")
        if len(text) > longest:
            raise _wrong(name, f"has {len(text):,} characters; the limit is {longest:,}.")
    if len(kind.model) > 120:
        raise _wrong("model", f"has {len(kind.model):,} characters; the limit is 120.")


def _check_name(kind: TodoType) -> None:
    others = types_of(kind.project).exclude(pk=kind.pk)
    if others.filter(name__iexact=kind.name).exists():
        raise Conflict(f"The project has a type named {kind.name} already.", code="name_taken", field="name")
    if others.count() >= MOST_TYPES:
        raise ApiError("too_many", f"The project has {MOST_TYPES} types; remove one first.")


def _checked_tools(project: Project, names: Sequence[Any]) -> list[str]:
    """The names, each of a tool that can run in a task, and none twice. Raises ApiError."""
    known = compiled_tools(project)
    for at, name in enumerate(names):
        if name in names[:at]:
            raise _wrong("tools", f"names {name} twice.")
        tool = known.get(name)
        if tool is None:
            close = _suggestion(name, task_tools(project))
            raise _wrong("tools", f"names '{str(name)[:100]}', which is no tool.{close}")
        if Trigger.TASK not in tool.moments:
            raise _wrong("tools", f"names {name}, which works inside a conversation only.")
    return list(names)


def _check_second(kind: TodoType) -> None:
    if kind.second_approver not in SecondApprover.values:
        raise _wrong("second_approver", f"must be one of: {', '.join(SecondApprover.values)}.")
    if kind.second_approver != SecondApprover.ABOVE:
        kind.limit_argument, kind.limit_value = "", None
        return
    if not kind.limit_argument:
        raise _wrong("limit_argument", "is required: name the argument that is compared with the limit.")
    limit = kind.limit_value
    if limit is None:
        raise _wrong("limit_value", "is required: above it two people have to approve.")
    if isinstance(limit, bool) or not isinstance(limit, int | float | Decimal) or not 0 <= limit <= HIGHEST_LIMIT:
        raise _wrong("limit_value", f"must be a number from 0 to {HIGHEST_LIMIT:,}.")


def _suggestion(name: Any, known: list[str]) -> str:
    close = get_close_matches(str(name)[:100], known, n=1)
    return f" Did you mean {close[0]}?" if close else f" There are: {', '.join(known)}."


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(field: str, what: str) -> ApiError:
    return ApiError(f"invalid_{field}", f"{field} {what}", field=field)
