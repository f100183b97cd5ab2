"""The versions of a todo: what each began with, so that whoever saw an older one is told what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.http import Http404

from projects.common.api_error import Conflict
from projects.common.differences import Change, differences
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id
from todos.content.lifecycle import Actor, move, note
from todos.content.snapshot import content_of, hash_of
from todos.models import Approval, Todo, TodoEvent, TodoStatus

LONGEST_VALUE = 120
MOST_NAMED = 5

LOCK = Prepared("select 1 from todos_todo where organization_id = %s and id = %s for no key update")
WHOLE = PreparedQuery(
    lambda todo: (
        Todo.objects.select_related("project__agent_version", "type", "effect").annotate(now=Now()).filter(pk=todo)
    ),
    kinds=(UUID,),
)
STANDING = PreparedQuery(
    lambda todo, version: Approval.objects.select_related("rule").filter(todo_id=todo, version=version, ended_at=None),
    kinds=(UUID, int),
)


class Changed(Conflict):
    """It is no longer what was seen. `changes` lead from what was seen, as far as it is known, to what it is now."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self.changes = list(changes)
        named = "; ".join(f"{change.label}: {_shown(change)}" for change in self.changes[:MOST_NAMED])
        more = len(self.changes) - MOST_NAMED
        what = f" {named}{f', and {more} more' if more > 0 else ''}." if named else " Look at it again."
        super().__init__(f"This todo changed since you opened it.{what}", code="changed")


def locked(todo_id: UUID) -> Todo:
    """The todo, which nobody else changes before this transaction ends. Raises Http404."""
    LOCK(current_organization_id(), todo_id)
    # By a statement of its own: after a wait PostgreSQL compares the new row with the old type and effect, and finds none.
    rows = Todo.objects.select_related("project", "type", "effect")
    todo = rows.filter(pk=todo_id).first()
    if todo is None:
        raise Http404
    return todo


def read_whole(todo_id: UUID) -> Todo:
    """The todo with everything that it refers to, and the database's time (`time_of`). Locks nothing. Raises Todo.DoesNotExist."""
    found = WHOLE(todo_id)
    if not found:
        raise Todo.DoesNotExist
    return found[0]


def time_of(todo: Todo) -> datetime:
    """The database's time at which a todo was read."""
    return cast(datetime, vars(todo)["now"])


def standing_approval(todo: Todo) -> Approval | None:
    """The approval of the version that stands, complete or not; None when there is none, or it was ended."""
    return next(iter(STANDING(todo.pk, todo.version)), None)


def end_approvals(todo: Todo) -> None:
    """No approval of the todo holds any more."""
    Approval.objects.filter(todo=todo, ended_at=None).update(ended_at=Now())


def require_seen(todo: Todo, content: Mapping[str, Any], *, version: int | None, content_hash: str | None) -> None:
    """Raise Changed unless the version and the hash are those of what stands now. None: the caller names none."""
    if version in (None, todo.version) and content_hash in (None, hash_of(dict(content))):
        return
    raise Changed(changes_since(todo, content, version=version, content_hash=content_hash))


def changes_since(
    todo: Todo, content: Mapping[str, Any], *, version: int | None, content_hash: str | None = None
) -> list[Change]:
    """What differs between what the caller saw and what stands now: the content of that hash, as far as one was kept, else the
    one that their version began with; nothing for what never was.
    """
    kept = [(event.version, event.detail["content"]) for event in _with_content(todo)]
    kept += [(approval.version, approval.content) for approval in Approval.objects.filter(todo=todo)]
    of_hash = [one for _, one in kept if hash_of(one) == content_hash]
    of_version = [one for number, one in kept if number == (todo.version if version is None else version)]
    return differences([*of_hash, *of_version][0], content) if of_hash or of_version else []


def _with_content(todo: Todo) -> QuerySet[TodoEvent]:
    """The entries with which versions began, in order."""
    return TodoEvent.objects.filter(todo=todo, detail__has_key="content").order_by("at", "id")


def begin_version(todo: Todo, *, what: str, actor: Actor, reason: str = "", **detail: Any) -> None:
    """A locked todo, saved with something new in it, is to be reviewed as the next version; no approval holds any more."""
    end_approvals(todo)
    Todo.objects.filter(pk=todo.pk).update(version=F("version") + 1, taken_by=None, taker="")
    todo.refresh_from_db()
    detail["content"] = content_of(todo)
    if todo.status == TodoStatus.PENDING_REVIEW:
        note(todo, what=what, actor=actor, **({"reason": reason} if reason else {}), **detail)
    else:
        move(todo, TodoStatus.PENDING_REVIEW, what=what, actor=actor, reason=reason, **detail)


def _shown(change: Change) -> str:
    before, after = (text[:LONGEST_VALUE] or "nothing" for text in (change.before, change.after))
    return f"{before} → {after}"
