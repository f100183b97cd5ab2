"""Versions of a todo, with the content each began with, so that a conflict can show what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.http import Http404
from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.common.differences import Change, differences
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id
from todos.content.lifecycle import Actor, add_event, transition
from todos.content.snapshot import content_of, hash_of
from todos.models import Approval, Todo, TodoEvent, TodoStatus

LONGEST_VALUE = 120
MOST_NAMED = 5

LOCK = Prepared("select 1 from todos_todo where organization_id = %s and id = %s for no key update")
TODO_WITH_RELATED = PreparedQuery(
    lambda todo: (
        Todo.objects.select_related("project__agent_version", "type", "effect").annotate(now=Now()).filter(pk=todo)
    ),
    kinds=(UUID,),
)
CURRENT_APPROVAL = PreparedQuery(
    lambda todo, version: Approval.objects.select_related("rule").filter(todo_id=todo, version=version, ended_at=None),
    kinds=(UUID, int),
)


class TodoChanged(Conflict):
    """The todo has changed since the caller read it. `changes` lead from that content, if it is known, to the current one."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self.changes = list(changes)
        named = "; ".join(f"{change.label}: {_format_change(change)}" for change in self.changes[:MOST_NAMED])
        more = len(self.changes) - MOST_NAMED
        if named and more > 0:
            named = gettext("%(changes)s, and %(number)s more") % {"changes": named, "number": more}
        sentence = (
            gettext("This todo changed since you opened it. %(changes)s.")
            if named
            else gettext("This todo changed since you opened it. Reload it.")
        )
        super().__init__(sentence % {"changes": named} if named else sentence, code="changed")


def get_for_update(todo_id: UUID) -> Todo:
    """Lock the todo for the rest of the transaction and return it. Raises Http404."""
    LOCK(current_organization_id(), todo_id)
    # A second statement, because after a lock wait PostgreSQL would join the new row to the old type and effect.
    rows = Todo.objects.select_related("project", "type", "effect")
    todo = rows.filter(pk=todo_id).first()
    if todo is None:
        raise Http404
    return todo


def load_todo(todo_id: UUID) -> Todo:
    """Read the todo with its related rows and the database's time (`time_of`), without a lock. Raises
    Todo.DoesNotExist.
    """
    found = TODO_WITH_RELATED(todo_id)
    if not found:
        raise Todo.DoesNotExist
    return found[0]


def time_of(todo: Todo) -> datetime:
    """The database's time when the todo was read."""
    return cast(datetime, vars(todo)["now"])


def current_approval(todo: Todo) -> Approval | None:
    """The approval of the todo's current version, complete or not; None if there is none or it was ended."""
    return next(iter(CURRENT_APPROVAL(todo.pk, todo.version)), None)


def end_approvals(todo: Todo) -> None:
    """End every approval of the todo."""
    Approval.objects.filter(todo=todo, ended_at=None).update(ended_at=Now())


def require_seen(todo: Todo, content: Mapping[str, Any], *, version: int | None, content_hash: str | None) -> None:
    """Raise TodoChanged unless `version` and `content_hash` match the current content. None matches anything."""
    if version in (None, todo.version) and content_hash in (None, hash_of(dict(content))):
        return
    raise TodoChanged(changes_since(todo, content, version=version, content_hash=content_hash))


def changes_since(
    todo: Todo, content: Mapping[str, Any], *, version: int | None, content_hash: str | None = None
) -> list[Change]:
    """The differences between what the caller saw and the current content.

    What they saw is the recorded content with that hash, or else the one their version began with. An unknown hash and
    version give no differences.
    """
    recorded = [(event.version, event.detail["content"]) for event in _with_content(todo)]
    recorded += [(approval.version, approval.content) for approval in Approval.objects.filter(todo=todo)]
    with_hash = [one for _, one in recorded if hash_of(one) == content_hash]
    with_version = [one for number, one in recorded if number == (todo.version if version is None else version)]
    return differences([*with_hash, *with_version][0], content) if with_hash or with_version else []


def _with_content(todo: Todo) -> QuerySet[TodoEvent]:
    """The history entries that began a version, in order."""
    return TodoEvent.objects.filter(todo=todo, detail__has_key="content").order_by("at", "id")


def begin_version(todo: Todo, *, what: str, actor: Actor, reason: str = "", **detail: Any) -> None:
    """End all approvals of a locked, saved todo and return it to review as the next version."""
    end_approvals(todo)
    Todo.objects.filter(pk=todo.pk).update(version=F("version") + 1, taken_by=None, taker="")
    todo.refresh_from_db()
    detail["content"] = content_of(todo)
    if todo.status == TodoStatus.PENDING_REVIEW:
        add_event(todo, what=what, actor=actor, **({"reason": reason} if reason else {}), **detail)
    else:
        transition(todo, TodoStatus.PENDING_REVIEW, what=what, actor=actor, reason=reason, **detail)


def _format_change(change: Change) -> str:
    before, after = (text[:LONGEST_VALUE] or "nothing" for text in (change.before, change.after))
    return f"{before} → {after}"
