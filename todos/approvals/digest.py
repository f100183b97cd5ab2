"""Notices about todos, and the e-mail digest of pending ones for those who may approve them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.utils.translation import ngettext

from notices.digest import Digest
from notices.models import NoticeKind
from notices.services import notify, settle
from projects.common.translation import lazy
from projects.models import Project, Role
from todos.approvals.permissions import may_approve
from todos.hooks import customer_names
from todos.models import ApproverNotice, Todo, TodoStatus

LANE = "todo_notice"
# Changes of a pending todo that are no reason to notify again who has read its notice.
SEEN_BY_ALL = ("edited", "approved_first")


@dataclass(frozen=True)
class Pending:
    """A pending todo and its line in an e-mail, which is written where nothing is read."""

    todo: Todo
    line: str


def on_todo_changed(todo: Todo, what: str) -> None:
    """Notify the approvers of a pending todo, and operators of one that failed or needs attention."""
    if todo.status == TodoStatus.PENDING_REVIEW:
        APPROVERS.queue(todo.project_id, cause=f"{todo.pk}:{what}:{todo.version}")
    if todo.status != TodoStatus.PENDING_REVIEW:
        settle(NoticeKind.TO_REVIEW, todo.pk)
    elif what not in SEEN_BY_ALL:
        notify_of(todo, NoticeKind.TO_REVIEW, is_for=partial(may_approve, todo))
    if todo.status == TodoStatus.NEEDS_ATTENTION or (todo.status == TodoStatus.FAILED and not todo.taker):
        notify_of(todo, NoticeKind.TODO_FAILED)
    else:
        settle(NoticeKind.TODO_FAILED, todo.pk)


def notify_of(todo: Todo, kind: NoticeKind, *, is_for: Callable[[Role], bool] | None = None) -> None:
    """Notify members of a todo, by default those who may operate."""
    text = _line(todo, _names([todo]))
    notify(todo.project_id, kind=kind, subject=todo.pk, object_id=todo.pk, text=text, is_for=is_for)


def _line(todo: Todo, names: Mapping[UUID, str]) -> str:
    """The todo's heading after its customer's name, if that is known."""
    name = names.get(todo.persona_id) if todo.persona_id else None
    return f"{name}: {todo.heading}" if name else todo.heading


def _names(todos: Iterable[Todo]) -> Mapping[UUID, str]:
    return customer_names({todo.persona_id for todo in todos if todo.persona_id})


def _waiting(project: Project) -> Sequence[Pending]:
    found = list(Todo.objects.select_related("type").filter(project=project, status=TodoStatus.PENDING_REVIEW))
    names = _names(found)
    return [Pending(todo, _line(todo, names)) for todo in found]


APPROVERS = Digest(
    lane=LANE,
    notices=ApproverNotice.objects,
    waiting=_waiting,
    is_for=lambda pending, member: may_approve(pending.todo, Role(member.role)),
    since=lambda pending: pending.todo.status_at,
    text=lambda pending: pending.line,
    headline=lambda count: (
        ngettext("%(count)s todo needs your approval", "%(count)s todos need your approval", count) % {"count": count}
    ),
    note=lazy("Nothing happens until someone approves it."),
    page="todos",
    kind=NoticeKind.TO_REVIEW,
)
