"""Granting approvals: bound to the exact content that was seen, one per version, by one person or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest, Now
from django.http import Http404
from django.utils.translation import gettext

from jobs.enqueue import JobRequest, enqueue
from jobs.errors import WrongState
from jobs.failpoints import failpoint
from projects.common.api_error import ApiError, Conflict, Unprocessable
from projects.models import ApiKey, Member
from todos.approvals.permissions import Approver, member_may_approve, needs_second, require_permission
from todos.approvals.validity import undeliverable_of, why_not_runnable
from todos.content.deliverability import Undeliverable
from todos.content.lifecycle import Actor, add_event, transition
from todos.content.snapshot import ApprovalContext, content_of, hash_of, load_approval_context
from todos.content.versions import (
    TodoChanged,
    begin_version,
    changes_since,
    current_approval,
    get_for_update,
    require_seen,
)
from todos.models import Approval, Todo, TodoStatus
from tools.engine.promises import BY_HAND_GRACE

# Larger batches need confirmation.
MOST_UNCONFIRMED = 20
MOST_AT_ONCE = 200
DEFAULT_HOURS = 168
LANE = "todo"
# Approved, and run at once: a repeated approval usually comes when the run has begun.
APPROVED_ONCE = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS, TodoStatus.COMPLETED)


@dataclass(frozen=True)
class Choice:
    """A todo to approve, with the version and hash the approver saw; None if they don't say."""

    todo_id: UUID
    version: int | None
    content_hash: str | None


@dataclass(frozen=True)
class ApprovalResult:
    """The result for one choice: its approval and undeliverable messages, or the reason for its refusal."""

    todo_id: UUID
    approval: Approval | None = None
    refused: str = ""
    unsent: Sequence[Undeliverable] = ()


@dataclass(frozen=True)
class GrantedApproval:
    """A valid approval, its todo, and the context it was checked against."""

    todo: Todo
    approval: Approval
    context: ApprovalContext


def approve_todo(
    todo_id: UUID,
    *,
    version: int | None,
    content_hash: str | None,
    actor: Actor,
    member: Member | None,
    key: ApiKey | None = None,
) -> Approval:
    """Approve exactly the content that was shown; its job is queued in the same transaction.

    If the same version is already approved, that approval is returned, also while it runs and once it is done. Where
    two approvals are needed, the first leaves the todo pending. Raises Http404, TodoChanged, WrongState, Conflict if the
    todo can't run, and PermissionDenied.
    """
    return _approve(Choice(todo_id, version, content_hash), Approver(actor, member=member, key=key)).approval


def record_approval(todo: Todo, content: Mapping[str, Any], approver: Approver) -> Approval:
    """Record the first or second approval, without checking that the todo can run."""
    first = current_approval(todo)
    if first is None:
        return _record_first(todo, content, approver)
    if first.content_hash == hash_of(dict(content)) and member_may_approve(todo, first.approved_by):
        return _record_second(todo, first, approver)
    # The content changed after the first approval, so this one is the first for the new content.
    begin_version(todo, what="first_approval_void", actor=approver.actor)
    return _record_first(todo, content_of(todo), approver)


def approve_many(
    choices: Sequence[Choice], *, actor: Actor, member: Member | None, confirmed: bool, key: ApiKey | None = None
) -> list[ApprovalResult]:
    """Approve several todos independently: a refusal doesn't affect the others. Results come in the order of `choices`.

    Raises Conflict for more than 20 without `confirmed`, and ApiError for more than 200.
    """
    if len(choices) > MOST_AT_ONCE:
        raise Unprocessable(
            "too_many",
            gettext("todos: at most %(most_at_once)s can be approved at once.") % {"most_at_once": MOST_AT_ONCE},
            field="todos",
        )
    if len(choices) > MOST_UNCONFIRMED and not confirmed:
        message = gettext("You are about to approve %(count)s todos. Confirm that you have reviewed each.") % {
            "count": len(choices)
        }
        raise Conflict(message, code="confirmation_needed", field="confirmed")
    approver = Approver(actor, member=member, key=key)
    # Lock in one order, so that two callers with the same todos don't deadlock.
    results = {choice: _approve_one(choice, approver) for choice in sorted(choices, key=lambda choice: choice.todo_id)}
    return [results[choice] for choice in choices]


def _approve_one(choice: Choice, approver: Approver) -> ApprovalResult:
    try:
        with transaction.atomic():
            granted = _approve(choice, approver)
    except (ApiError, PermissionDenied) as error:
        return ApprovalResult(choice.todo_id, refused=str(error))
    except Http404:
        return ApprovalResult(choice.todo_id, refused=gettext("No such todo."))
    unsent = undeliverable_of(granted.todo, tools=granted.context.tools, contacts=granted.context.contacts)
    return ApprovalResult(choice.todo_id, approval=granted.approval, unsent=unsent)


def _approve(choice: Choice, approver: Approver) -> GrantedApproval:
    """Like `approve_todo`, but also return the context, which is read once."""
    todo = get_for_update(choice.todo_id)
    require_permission(todo, approver)
    context, version, content_hash = load_approval_context(todo), choice.version, choice.content_hash
    if todo.status in APPROVED_ONCE:
        return GrantedApproval(todo, _existing_approval(todo, version=version, content_hash=content_hash), context)
    if todo.status != TodoStatus.PENDING_REVIEW:
        raise WrongState(_status_sentence(todo))
    require_in_time(todo)
    content = content_of(todo, tools=context.tools, contacts=context.contacts)
    require_seen(todo, content, version=version, content_hash=content_hash)
    if problem := why_not_runnable(todo, tools=context.tools, contacts=context.contacts):
        raise Conflict(problem, code="not_runnable")
    return GrantedApproval(todo, record_approval(todo, content, approver), context)


def require_in_time(todo: Todo) -> None:
    """Raise WrongState if a pending todo is overdue, even before the sweep has expired it."""
    if Todo.objects.filter(pk=todo.pk, expires_at__lte=Now()).exists():
        raise WrongState(gettext("This todo was not approved in time."))


def approval_deadline(todo: Todo) -> Combinable:
    """The time until which a todo can be approved, and its approval used: not before its promise is due."""
    until = Now() + timedelta(hours=todo.type.expires_after_hours if todo.type else DEFAULT_HOURS)
    return Greatest(until, Value(todo.promise.due_at + BY_HAND_GRACE)) if todo.promise is not None else until


def _existing_approval(todo: Todo, *, version: int | None, content_hash: str | None) -> Approval:
    """The current approval, if the caller saw the same content. Raises TodoChanged, or WrongState if somebody took the
    todo on by hand.
    """
    current = current_approval(todo)
    if current is None:
        raise WrongState(_status_sentence(todo))
    if version in (None, todo.version) and content_hash in (None, current.content_hash):
        return current
    raise TodoChanged(changes_since(todo, current.content, version=version, content_hash=content_hash))


def _record_first(todo: Todo, content: Mapping[str, Any], approver: Approver) -> Approval:
    approval = Approval.objects.create(
        todo=todo,
        version=todo.version,
        content=content,
        content_hash=hash_of(content),
        approved_by=approver.member.pk if approver.member else None,
        key_id=approver.key.pk if approver.key else None,
        approver=approver.actor.name[:120],
        rule=approver.rule,
        needs_second=needs_second(todo),
        repeats=todo.repeats,
        expires_at=approval_deadline(todo),
    )
    approval.refresh_from_db()
    if approval.is_complete:
        return _complete(todo, approval, approver)
    add_event(todo, what="approved_first", actor=approver.actor, approval=str(approval.pk))
    return approval


def _record_second(todo: Todo, approval: Approval, approver: Approver) -> Approval:
    """Complete the approval, unless the same person approves twice."""
    if not needs_second(todo):
        approval.needs_second = False
    elif approver.member is None or approver.member.pk == approval.approved_by:
        return approval
    else:
        approval.second_by, approval.second_approver = approver.member.pk, approver.actor.name[:120]
        approval.second_at = Now()
    approval.expires_at = approval_deadline(todo)
    approval.save()
    approval.refresh_from_db()
    return _complete(todo, approval, approver)


def _complete(todo: Todo, approval: Approval, approver: Approver) -> Approval:
    """Mark the todo as approved and queue its job in one commit. Todos done by hand get no job."""
    todo.expires_at = approval.expires_at
    todo.save(update_fields=["expires_at"])
    if not approval.is_by_hand and not approver.by_hand:
        key = f"{LANE}:{approval.pk}"
        enqueue([JobRequest(LANE, todo.project_id, subject_id=todo.pk, ordinal=0, key=key)])
    rule = {"rule": str(approval.rule_id)} if approval.rule_id else {}
    transition(todo, TodoStatus.APPROVED, what="approved", actor=approver.actor, approval=str(approval.pk), **rule)
    failpoint("todo.approve_pre_commit")
    return approval


def approved_at(approval: Approval) -> str:
    """The time of an approval in sentences: the business's, with its offset, such as 2026-11-27 10:05+01:00."""
    version = approval.todo.project.agent_version
    zone = ZoneInfo(version.config.timezone) if version else UTC
    return approval.created_at.astimezone(zone).isoformat(sep=" ", timespec="minutes")


def _status_sentence(todo: Todo) -> str:
    approval = current_approval(todo)
    sentence = TodoStatus(todo.status).sentence
    if approval is None:
        return sentence
    given = {"name": approval.approver, "time": approved_at(approval)}
    return f"{sentence} " + gettext("Approved by %(name)s at %(time)s.") % given
