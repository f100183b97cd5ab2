"""Rejection of pending todos, one or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext

from projects.common.api_error import ApiError, Unprocessable
from todos.approvals.approve import MOST_AT_ONCE, Choice
from todos.content.lifecycle import REJECTED, Actor, transition
from todos.content.snapshot import content_of
from todos.content.versions import end_approvals, get_for_update, require_seen
from todos.models import Todo, TodoStatus


@dataclass(frozen=True)
class RejectionResult:
    """The result for one choice: the rejected todo, or the reason why it was left as it is."""

    todo_id: UUID
    todo: Todo | None = None
    refused: str = ""


def reject_todo(todo_id: UUID, *, actor: Actor, reason: str = "", version: int | None = None) -> Todo:
    """Reject a pending todo. Raises Http404, WrongState, TodoChanged."""
    todo = get_for_update(todo_id)
    if todo.status == TodoStatus.PENDING_REVIEW:
        require_seen(todo, content_of(todo), version=version, content_hash=None)
    transition(todo, TodoStatus.REJECTED, what=REJECTED, actor=actor, reason=reason)
    end_approvals(todo)
    return todo


def reject_many(choices: Sequence[Choice], *, actor: Actor, reason: str) -> list[RejectionResult]:
    """Reject several todos independently: a refusal doesn't affect the others. Results come in the order of `choices`.

    Raises Unprocessable for more than 200.
    """
    if len(choices) > MOST_AT_ONCE:
        raise Unprocessable(
            "too_many",
            gettext("todos: at most %(most_at_once)s can be rejected at once.") % {"most_at_once": MOST_AT_ONCE},
            field="todos",
        )
    # Lock in one order, so that two callers with the same todos don't deadlock.
    ordered = sorted(choices, key=lambda choice: choice.todo_id)
    results = {choice: _reject_one(choice, actor=actor, reason=reason) for choice in ordered}
    return [results[choice] for choice in choices]


def _reject_one(choice: Choice, *, actor: Actor, reason: str) -> RejectionResult:
    try:
        with transaction.atomic():
            rejected = reject_todo(choice.todo_id, actor=actor, reason=reason, version=choice.version)
    except ApiError as error:
        return RejectionResult(choice.todo_id, refused=error.message)
    except Http404:
        return RejectionResult(choice.todo_id, refused=gettext("No such todo."))
    return RejectionResult(choice.todo_id, todo=rejected)
