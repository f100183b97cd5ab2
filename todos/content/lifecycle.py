"""The states of a todo and the one way to change them: compare-and-set, with an entry in the history.

    pending_review → approved, rejected, expired, cancelled
    approved → in_progress, pending_review (edited), expired, cancelled
    in_progress → completed, failed, needs_attention, cancelled, pending_review (its content changed)
    failed, needs_attention → pending_review (reviewed again)
    rejected → pending_review (undone at once by whoever rejected it)
    needs_attention → in_progress (staff releases or repeats an effect), completed (an unknown effect happened)

A person can take on an approved todo or one that needs attention (todos.approvals.manual_completion); it is then
in_progress and ends like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from jobs.errors import WrongState
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.write_batch import insert_rows
from todos.hooks import todo_changed
from todos.models import Todo, TodoEvent, TodoStatus

S = TodoStatus
TRANSITIONS: Mapping[TodoStatus, frozenset[TodoStatus]] = {
    S.PENDING_REVIEW: frozenset({S.APPROVED, S.REJECTED, S.EXPIRED, S.CANCELLED}),
    S.APPROVED: frozenset({S.IN_PROGRESS, S.PENDING_REVIEW, S.EXPIRED, S.CANCELLED}),
    S.IN_PROGRESS: frozenset({S.COMPLETED, S.FAILED, S.NEEDS_ATTENTION, S.CANCELLED, S.PENDING_REVIEW}),
    S.NEEDS_ATTENTION: frozenset({S.PENDING_REVIEW, S.IN_PROGRESS, S.COMPLETED, S.CANCELLED}),
    S.FAILED: frozenset({S.PENDING_REVIEW}),
    S.COMPLETED: frozenset(),
    S.REJECTED: frozenset({S.PENDING_REVIEW}),
    S.EXPIRED: frozenset(),
    S.CANCELLED: frozenset(),
}

_MOVE = Prepared("""
update todos_todo set status = %s, reason = %s, status_at = statement_timestamp()
where organization_id = %s and id = %s and status = %s and version = %s
returning status, reason, status_at
""")


@dataclass(frozen=True)
class Actor:
    """The author of a change. Members have an id; the agent, rules and API keys don't."""

    name: str
    id: UUID | None = None


AGENT = Actor("the agent")
CLOCK = Actor("the clock")
# A rejection's `what` in the history.
REJECTED = "rejected"


def transition(todo: Todo, to: TodoStatus, *, what: str, actor: Actor, reason: str = "", **detail: Any) -> None:
    """Change a todo's state from the one it was read in, and add an entry to its history. Runs in the current
    transaction.

    Raises WrongState if the transition isn't allowed, or if another transaction changed the todo first.
    """
    before = TodoStatus(todo.status)
    if to not in TRANSITIONS[before]:
        raise WrongState(f"{before.sentence} " + gettext("It can’t be moved to “%(status)s”.") % {"status": to.label})
    moved = _MOVE(to.value, reason[:500], current_organization_id(), todo.pk, before.value, todo.version)
    if not moved:
        todo.refresh_from_db()
        changed = gettext("This todo changed in the meantime. Reload it.")
        raise WrongState(f"{changed} {TodoStatus(todo.status).sentence}")
    todo.status, todo.reason, todo.status_at = moved[0]
    add_event(todo, what=what, actor=actor, before=before, **({"reason": reason} if reason else {}), **detail)


def add_event(todo: Todo, *, what: str, actor: Actor, before: str = "", **detail: Any) -> TodoEvent:
    """Add an entry to the history and send `todo_changed`, in the current transaction."""
    event = TodoEvent(
        todo=todo,
        what=what,
        from_status=before,
        to_status=todo.status if before else "",
        version=todo.version,
        actor_id=actor.id,
        actor=actor.name[:120],
        detail=detail,
    )
    insert_rows([event])
    todo_changed.send(todo, what)
    return event
