"""What is done to one todo by the API: a door for each verb, all of one shape, and the one that approves several."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request

from projects.accounts.accounts import require_recent_sign_in
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.common.api_error import ApiError
from projects.models.key import Scope
from todos import services
from todos.api.forms import ChoicesInput, Failure, Note, Reason, Seen, Ticks
from todos.api.presenters import approval_payload, approved_payload, unsent_payload
from todos.api.view import TodoView
from todos.approvals import manual_completion
from todos.approvals.approve import MOST_UNCONFIRMED
from todos.models import Approval, Todo, TodoStatus
from todos.payloads import TodoAnswerPayload, TodoVerbPayload, YesPayload

UNSEEN = (
    "version: what do you say yes to? Send the todo's version and content_hash, as you have read them, so that nothing else is "
    "approved."
)
V = TypeVar("V", bound="type[TodoVerb]")


class TodoVerb(TodoView):
    """`POST /todos/{id}/<verb>`: it is done, and the todo is answered as it stands then."""

    scopes: ClassVar = {"POST": Scope.OPERATE}
    form: ClassVar[type[StrictSerializer]]

    def post(self, request: Request, todo_id: UUID) -> TypedResponse[TodoVerbPayload]:
        todo = services.get_todo(self.project, todo_id)
        said: YesPayload = self.act(todo, self.valid(self.form)) or {}
        return TypedResponse({**self.detail(todo_id), **said})

    def act(self, todo: Todo, data: dict[str, Any]) -> YesPayload | None:
        """Do it to the todo, which was read before, and return what is to be answered beside it."""
        raise NotImplementedError

    def seen(self, todo: Todo, data: dict[str, Any]) -> dict[str, Any]:
        """What the caller saw, and who they are. A program may leave it to what stands; a person has looked at something.

        Raises ApiError.
        """
        if self.caller.member is not None and not data and todo.status == TodoStatus.PENDING_REVIEW:
            raise ApiError("missing_version", UNSEEN, field="version")
        return {
            "version": data.get("version"),
            "content_hash": data.get("content_hash"),
            "actor": self.actor,
            "member": self.caller.member,
            "key": self.caller.key,
        }


def verb(operation: str, form: type[StrictSerializer]) -> Callable[[V], V]:
    """The verb's name in the schema, and what it takes; its docstring is its description."""

    def describe(view: V) -> V:
        view.form = form
        described = extend_schema(operation_id=f"todos_{operation}", request=form, description=getdoc(view))
        return extend_schema_view(post=described)(view)

    return describe


@verb("approve", Seen)
class ApproveTodo(TodoVerb):
    """Say yes to the todo as it was seen: `version` and `content_hash` of when it was read, else as it stands.

    `approved` in the answer is what the yes is for: version, hash and the content itself. What somebody approved already
    answers with the approval that stands. 409 where it changed meanwhile. A todo without any tool waits approved until
    somebody takes it on. A member, unlike an API key, has to name what they saw.
    """

    def act(self, todo: Todo, data: dict[str, Any]) -> YesPayload:
        approval = services.approve_todo(todo.pk, **self.seen(todo, data))
        is_news = todo.status == TodoStatus.PENDING_REVIEW and self.maker_id in _givers(approval)
        return {"message": _sentence(approval, is_news=is_news), "approved": approved_payload(approval)}


@verb("reject", Reason)
class RejectTodo(TodoVerb):
    """Say no to a pending todo."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.reject_todo(todo.pk, actor=self.actor, reason=data.get("reason", ""))


@verb("cancel", Reason)
class CancelTodo(TodoVerb):
    """End a todo that isn't over. A running one stops before its next effect."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.cancel_todo(todo.pk, actor=self.actor, reason=data.get("reason", ""))


@verb("take", Seen)
class TakeTodo(TodoVerb):
    """Do it yourself, by hand: it is `in_progress`, `taker` says with whom, and no tool runs for it.

    For what waits for a yes (which it says), is approved and not begun, or needs attention. 409 for anything else, and
    while it isn't known whether something of it happened. A member, unlike an API key, has to name what they saw.
    """

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.take_todo(todo.pk, **self.seen(todo, data))


@verb("complete", Note)
class CompleteTodo(TodoVerb):
    """What somebody took on is done: `completed`. What was promised by it is kept."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.complete_todo(todo.pk, actor=self.actor, note=data.get("note", ""))


@verb("fail", Failure)
class FailTodo(TodoVerb):
    """What somebody took on couldn't be done: `failed`. What was promised by it is broken."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.fail_todo(todo.pk, actor=self.actor, reason=data["reason"])


@verb("review_again", Ticks)
class ReviewTodoAgain(TodoVerb):
    """Bring a todo that failed, needs attention or was taken on back to review. `repeats` are effects to do once more."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.review_again(todo.pk, actor=self.actor, repeats=data.get("repeats", ()))


class ApproveTodos(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_approve_many", request=ChoicesInput)
    def post(self, request: Request) -> TypedResponse[Page[TodoAnswerPayload]]:
        """Approve several, each as it was seen. Above 20 it must be `confirmed`, by somebody who signed in of late.

        `unsent` says of each that was approved which of its letters reach nobody, though the rest of it is done.
        """
        data = self.valid(ChoicesInput)
        chosen = [services.Choice(row["todo"], row["version"], row["content_hash"]) for row in data["todos"]]
        if len(chosen) > MOST_UNCONFIRMED and self.caller.member is not None:
            require_recent_sign_in(request._request)
        mine = set(
            Todo.objects.filter(project=self.project)
            .filter(pk__in=[one.todo_id for one in chosen])
            .values_list("pk", flat=True)
        )
        answers = services.approve_many(
            [one for one in chosen if one.todo_id in mine],
            actor=self.actor,
            member=self.caller.member,
            key=self.caller.key,
            confirmed=data["confirmed"],
        )
        strange = [
            services.ApprovalResult(one.todo_id, refused="There is no such todo.")
            for one in chosen
            if one.todo_id not in mine
        ]
        return TypedResponse({"results": [_answer_payload(answer) for answer in (*answers, *strange)], "next": None})


def _givers(approval: Approval) -> tuple[UUID | None, ...]:
    """The members or the key that the approval is from."""
    return approval.approved_by, approval.key_id, approval.second_by


def _sentence(approval: Approval, *, is_news: bool) -> str:
    said = f"{'Approved' if is_news else 'Already approved'} by {approval.approver} at {approval.created_at:%H:%M} UTC"
    if not approval.is_complete:
        return f"{said}; a second person has to approve it too."
    return f"{said}; somebody has to take it on, because no tool does it." if approval.is_by_hand else f"{said}."


def _answer_payload(answer: services.ApprovalResult) -> TodoAnswerPayload:
    return {
        "todo": str(answer.todo_id),
        "approval": approval_payload(answer.approval) if answer.approval else None,
        "refused": answer.refused or None,
        "unsent": unsent_payload(answer.unsent),
    }
