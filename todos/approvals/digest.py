"""The e-mail digest of pending todos for those who may approve them."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.digest import Digest
from projects.models import Project
from todos.approvals.permissions import may_approve
from todos.models import ApproverNotice, Todo, TodoStatus

LANE = "todo_notice"


def on_todo_changed(todo: Todo, what: str) -> None:
    """Queue a digest for the approvers if the todo is pending."""
    if todo.status == TodoStatus.PENDING_REVIEW:
        APPROVERS.queue(todo.project_id, cause=f"{todo.pk}:{what}:{todo.version}")


def _waiting(project: Project) -> Sequence[Todo]:
    return list(Todo.objects.select_related("type").filter(project=project, status=TodoStatus.PENDING_REVIEW))


APPROVERS = Digest(
    lane=LANE,
    notices=ApproverNotice.objects,
    waiting=_waiting,
    is_for=may_approve,
    since=lambda todo: todo.status_at,
    text=lambda todo: todo.description,
    one="A todo needs your approval",
    many="{count} todos need your approval",
    note="Nothing happens until somebody approves it.",
    page="todos",
)
