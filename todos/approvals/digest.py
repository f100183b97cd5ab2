"""Notices about todos, and the e-mail digest of pending ones for those who may approve them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from django.utils.translation import ngettext

from notices.digest import Digest
from notices.models import NoticeKind
from notices.services import notify, settle
from projects.common.translation import lazy
from projects.models import Project, Role
from todos.approvals.permissions import may_approve
from todos.models import ApproverNotice, Todo, TodoStatus

LANE = "todo_notice"
# Changes of a pending todo that are no reason to notify again who has read its notice.
SEEN_BY_ALL = ("edited", "approved_first")


def on_todo_changed(todo: Todo, what: str) -> None:
    """Notify the approvers of a pending todo, and operators of one that failed or needs attention."""
    if todo.status == TodoStatus.PENDING_REVIEW:
        APPROVERS.queue(todo.project_id, cause=f"{todo.pk}:{what}:{todo.version}")
    if todo.status != TodoStatus.PENDING_REVIEW:
        settle(NoticeKind.TO_REVIEW, todo.pk)
    elif what not in SEEN_BY_ALL:
        _notify(todo, NoticeKind.TO_REVIEW, is_for=partial(may_approve, todo))
    if todo.status == TodoStatus.NEEDS_ATTENTION or (todo.status == TodoStatus.FAILED and not todo.taker):
        _notify(todo, NoticeKind.TODO_FAILED)
    else:
        settle(NoticeKind.TODO_FAILED, todo.pk)


def _notify(todo: Todo, kind: NoticeKind, *, is_for: Callable[[Role], bool] | None = None) -> None:
    notify(todo.project_id, kind=kind, subject=todo.pk, object_id=todo.pk, text=todo.heading, is_for=is_for)


def _waiting(project: Project) -> Sequence[Todo]:
    return list(Todo.objects.select_related("type").filter(project=project, status=TodoStatus.PENDING_REVIEW))


APPROVERS = Digest(
    lane=LANE,
    notices=ApproverNotice.objects,
    waiting=_waiting,
    is_for=lambda todo, member: may_approve(todo, Role(member.role)),
    since=lambda todo: todo.status_at,
    text=lambda todo: todo.heading,
    headline=lambda count: (
        ngettext("%(count)s todo needs your approval", "%(count)s todos need your approval", count) % {"count": count}
    ),
    note=lazy("Nothing happens until someone approves it."),
    page="todos",
    kind=NoticeKind.TO_REVIEW,
)
