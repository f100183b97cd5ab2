"""Operations on todos, shared by pages, API, executor and extraction. All run inside the tenant's transaction.

Each operation locks the todo before its related rows; of two at once, the second sees what the first did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import Http404
from django.utils.translation import gettext

from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.models import Project
from todos.approvals.approve import (
    ApprovalResult,
    Choice,
    approval_deadline,
    approve_many,
    approve_todo,
    approved_at,
    record_approval,
)
from todos.approvals.permissions import Approver
from todos.approvals.rejection import RejectionResult, reject_many, reject_todo
from todos.approvals.standing_rules import find_rule
from todos.approvals.validity import why_not_runnable
from todos.content.lifecycle import CLOCK, Actor, add_event, transition
from todos.content.planned_effect import plan_again, replan
from todos.content.plans import LONGEST_DESCRIPTION, checked_plan, checked_recipients
from todos.content.snapshot import ApprovalContext, content_of, load_approval_context
from todos.content.versions import (
    TodoChanged,
    begin_version,
    changes_since,
    current_approval,
    end_approvals,
    get_for_update,
)
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from tools.engine.hooks import lock_customer
from tools.models import Effect, Promise

__all__ = [
    "ApprovalResult",
    "Choice",
    "RejectionResult",
    "TodoChanged",
    "approve_many",
    "approve_todo",
    "approved_at",
    "cancel_todo",
    "current_approval",
    "edit_todo",
    "expire_todo",
    "get_todo",
    "make_todo",
    "reject_many",
    "reject_todo",
    "return_to_review",
    "review_again",
]

EDITABLE = ("title", "description", "type", "tool", "arguments", "recipients", "persona_id")
S = TodoStatus


def get_todo(project: Project, todo_id: UUID) -> Todo:
    """Return one of the project's todos. Raises Http404."""
    todo = Todo.objects.select_related("project", "type", "effect").filter(project=project, pk=todo_id).first()
    if todo is None:
        raise Http404
    return todo


def make_todo(
    project: Project,
    *,
    description: str,
    source: TodoSource,
    actor: Actor,
    title: str = "",
    type: TodoType | None = None,
    conversation_id: UUID | None = None,
    turn_id: UUID | None = None,
    persona_id: UUID | None = None,
    promise: Promise | None = None,
    effect: Effect | None = None,
    quote: str = "",
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    recipients: Sequence[str] = (),
    source_key: str = "",
    expires_at: datetime | None = None,
) -> Todo:
    """Create a todo for review, or return the existing one with the same `source_key`. A standing rule may approve it
    at once.

    `expires_at` is the deadline for its approval. With an `effect`, the effect's tool and arguments become the plan
    without validation, because the flow that planned the effect validated them. Raises ApiError that names the field.
    """
    if source_key and (current := Todo.objects.filter(source_key=source_key).first()):
        return current
    tool, plan = _plan_of(project, effect=effect, tool=tool, arguments=arguments, type=type)
    todo = Todo(
        project=project,
        type=type,
        title=title,
        description=description[:LONGEST_DESCRIPTION],
        source=source,
        source_key=source_key,
        conversation_id=conversation_id,
        turn_id=turn_id,
        persona_id=lock_customer(persona_id) if persona_id else None,
        promise=promise,
        effect=effect,
        quote=quote,
        tool=tool,
        arguments=plan,
        recipients=checked_recipients(recipients),
        created_by=actor.id,
    )
    todo.expires_at = expires_at or approval_deadline(todo)
    try:
        with transaction.atomic():
            todo.save(force_insert=True)
    except IntegrityError:
        # Another transaction created a todo for the same source at the same moment.
        return Todo.objects.get(source_key=source_key)
    todo.refresh_from_db()
    context = load_approval_context(todo)
    content = content_of(todo, tools=context.tools, contacts=context.contacts)
    add_event(todo, what="made", actor=actor, content=content)
    _apply_rules(todo, content, context)
    return todo


def edit_todo(
    todo_id: UUID, changes: Mapping[str, Any], *, actor: Actor, version: int | None, is_contact_changed: bool = False
) -> Todo:
    """Change title, description, type, tool, arguments, recipients or persona_id, and return the todo to review as a new
    version.

    A new description without a title removes the old title. An edit without a difference changes nothing, unless
    `is_contact_changed`: somebody changed the customer's address in the running transaction. Raises Http404, TodoChanged
    if `version` is not the current one, WrongState unless the todo is pending or approved, and ApiError that names the
    field.
    """
    todo = get_for_update(todo_id)
    if todo.status not in (S.PENDING_REVIEW, S.APPROVED):
        raise WrongState(f"{_sentence(todo)} " + gettext("It can no longer be edited."))
    if version not in (None, todo.version):
        raise TodoChanged(changes_since(todo, content_of(todo), version=version))
    fields = _checked_changes(todo, changes)
    if not fields and not is_contact_changed:
        return todo
    for name, value in fields.items():
        setattr(todo, name, value)
    todo.expires_at = approval_deadline(todo)
    todo.save(update_fields=[*fields, "expires_at"])
    changed = [*(name.removesuffix("_id") for name in fields), *(["contact"] if is_contact_changed else [])]
    begin_version(todo, what="edited", actor=actor, fields=changed)
    return todo


def cancel_todo(todo_id: UUID, *, actor: Actor, reason: str = "") -> Todo:
    """Cancel a todo that hasn't ended. A running one stops before its next effect. Raises Http404, WrongState."""
    return _end(get_for_update(todo_id), S.CANCELLED, what="cancelled", actor=actor, reason=reason)


def review_again(todo_id: UUID, *, actor: Actor, repeats: Sequence[UUID] = ()) -> Todo:
    """Return a todo that failed, needs attention or was taken on to review.

    `repeats` are effects to execute once more, or for the first time if they were held back. The todo's own effect is
    planned again if it is among them, or if it failed.

    Raises Http404, WrongState, and ApiError for an effect of another todo or for the todo's own effect while its
    outcome is unknown.
    """
    todo = get_for_update(todo_id)
    if todo.status not in (S.FAILED, S.NEEDS_ATTENTION) and not _is_taken(todo):
        raise WrongState(
            f"{_sentence(todo)} " + gettext("Only todos that failed or need attention can be reviewed again.")
        )
    known = set(Effect.objects.filter(todo_calls__step__todo=todo).values_list("pk", flat=True)) | {todo.effect_id}
    if unknown := [effect_id for effect_id in repeats if effect_id not in known]:
        raise ApiError(
            "invalid_repeats",
            gettext("repeats: %(value)s is not an effect of this todo.") % {"value": unknown[0]},
            field="repeats",
        )
    if todo.effect is not None:
        plan_again(todo.effect, is_wanted=todo.effect_id in repeats, by=actor.id)
    todo.repeats = [str(effect_id) for effect_id in dict.fromkeys(repeats)]
    todo.expires_at = approval_deadline(todo)
    todo.save(update_fields=["repeats", "expires_at"])
    what = "handed_back" if _is_taken(todo) else "reviewed_again"
    begin_version(todo, what=what, actor=actor, repeats=todo.repeats)
    return todo


def return_to_review(todo: Todo, *, reason: str, actor: Actor, recipients: Sequence[str] | None = None) -> None:
    """Return an approved or running todo to review, because its content no longer matches its approval.

    The approval ends and the version increases. `recipients` replaces the proposed addresses. Raises WrongState.
    """
    current = get_for_update(todo.pk)
    if current.status not in (S.APPROVED, S.IN_PROGRESS):
        raise WrongState(_sentence(current))
    if recipients is not None:
        current.recipients = checked_recipients(recipients)
    current.expires_at = approval_deadline(current)
    current.save(update_fields=["recipients", "expires_at"])
    begin_version(current, what="put_back", actor=actor, reason=reason)
    todo.refresh_from_db()


def expire_todo(todo: Todo) -> None:
    """Expire a todo that was not approved, or whose approval was not used, in time. Raises WrongState."""
    current = get_for_update(todo.pk)
    reason = "Nobody approved it in time." if current.status == S.PENDING_REVIEW else "It was not started in time."
    _end(current, S.EXPIRED, what="expired", actor=CLOCK, reason=reason)
    todo.refresh_from_db()


def _plan_of(
    project: Project,
    *,
    effect: Effect | None,
    tool: str,
    arguments: Mapping[str, Any] | None,
    type: TodoType | None,
) -> tuple[str, dict[str, Any] | None]:
    if effect is not None:
        return effect.tool, dict(effect.arguments)
    return checked_plan(project, tool=tool, arguments=arguments, type=type)


def _apply_rules(todo: Todo, content: Mapping[str, Any], context: ApprovalContext) -> None:
    # Rules approve only todos that can run; the others are left to a person, who sees what is missing.
    if why_not_runnable(todo, tools=context.tools, contacts=context.contacts):
        return
    if (rule := find_rule(todo, content)) is not None:
        record_approval(todo, content, Approver(Actor(f"the rule for {rule.tool}"), rule=rule))


def _end(todo: Todo, status: TodoStatus, *, what: str, actor: Actor, reason: str) -> Todo:
    transition(todo, status, what=what, actor=actor, reason=reason)
    end_approvals(todo)
    return todo


def _checked_changes(todo: Todo, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that differ, validated and in the form they are stored. Raises ApiError."""
    if unknown := [name for name in changes if name not in EDITABLE]:
        raise ApiError("forbidden_field", gettext("%(value)s cannot be set.") % {"value": unknown[0]}, field=unknown[0])
    wanted = {name: changes.get(name, getattr(todo, name)) for name in EDITABLE}
    if "title" not in changes and wanted["description"] != todo.description:
        # The title names the previous task.
        wanted["title"] = ""
    if "recipients" in changes:
        wanted["recipients"] = checked_recipients(changes["recipients"])
    if wanted["tool"] != todo.tool and "arguments" not in changes:
        # The arguments belong to the previous tool.
        wanted["arguments"] = None
    if {"tool", "arguments", "type"} & changes.keys():
        wanted["tool"], wanted["arguments"] = _checked_plan(todo, wanted)
    return {name: value for name, value in wanted.items() if value != getattr(todo, name)}


def _checked_plan(todo: Todo, wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
    tool, arguments = checked_plan(
        todo.project, tool=wanted["tool"], arguments=wanted["arguments"], type=wanted["type"]
    )
    if todo.effect is not None:
        replan(todo.effect, tool=tool, arguments=arguments or {})
    return tool, arguments


def _is_taken(todo: Todo) -> bool:
    """True if a person is doing the todo by hand."""
    return todo.status == S.IN_PROGRESS and bool(todo.taker)


def _sentence(todo: Todo) -> str:
    return TodoStatus(todo.status).sentence
