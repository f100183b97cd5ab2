"""API views of the actions on todos: one view per action, and two that approve or reject several todos."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import getdoc
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request

from projects.accounts.accounts import require_recent_sign_in
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.common.api_error import ApiError
from projects.models import Project
from projects.models.key import Scope
from todos import services
from todos.api.forms import ChoicesInput, Failure, Note, Reason, RejectionsInput, Seen, Ticks
from todos.api.presenters import approval_payload, approved_payload, unsent_payload
from todos.api.view import TodoView
from todos.approvals import manual_completion
from todos.approvals.approve import MOST_UNCONFIRMED
from todos.models import Approval, Todo, TodoStatus
from todos.payloads import ApprovalFieldsPayload, TodoAnswerPayload, TodoRejectionPayload, TodoVerbPayload

MISSING_VERSION = "version: send the `version` and `content_hash` you retrieved, so that only what you saw is approved."
NO_TODO = "No such todo."
V = TypeVar("V", bound="type[TodoVerb]")


class TodoVerb(TodoView):
    """`POST /todos/{id}/<verb>`: performs an action and returns the updated todo."""

    scopes: ClassVar = {"POST": Scope.OPERATE}
    form: ClassVar[type[StrictSerializer]]

    def post(self, request: Request, todo_id: UUID) -> TypedResponse[TodoVerbPayload]:
        todo = services.get_todo(self.project, todo_id)
        extra: ApprovalFieldsPayload = self.act(todo, self.valid(self.form)) or {}
        return TypedResponse({**self.detail(todo_id), **extra})

    def act(self, todo: Todo, data: dict[str, Any]) -> ApprovalFieldsPayload | None:
        """Perform the action on the todo. Return additional fields of the response, if any."""
        raise NotImplementedError

    def seen(self, todo: Todo, data: dict[str, Any]) -> dict[str, Any]:
        """The version that the caller saw, and the caller. To act on a pending todo, members must say what they saw.

        Raises ApiError.
        """
        if self.caller.member is not None and not data and todo.status == TodoStatus.PENDING_REVIEW:
            raise ApiError("missing_version", MISSING_VERSION, field="version")
        return {
            "version": data.get("version"),
            "content_hash": data.get("content_hash"),
            "actor": self.actor,
            "member": self.caller.member,
            "key": self.caller.key,
        }


def verb(operation: str, form: type[StrictSerializer]) -> Callable[[V], V]:
    """Set the view's serializer and its operation id in the schema. Its docstring becomes the description."""

    def describe(view: V) -> V:
        view.form = form
        described = extend_schema(operation_id=f"todos_{operation}", request=form, description=getdoc(view))
        return extend_schema_view(post=described)(view)

    return describe


@verb("approve", Seen)
class ApproveTodo(TodoVerb):
    """Approves a todo. Pass the `version` and `content_hash` you retrieved to approve exactly that content. Members
    must pass at least one of them; an API key that passes neither approves the current content.

    `approved` in the response is the approved content with its version and hash. Approving an approved todo again
    returns the existing approval, also while it runs and once it is completed. Returns 409 if the todo has changed. A
    todo without tools stays approved until somebody takes it on.
    """

    def act(self, todo: Todo, data: dict[str, Any]) -> ApprovalFieldsPayload:
        approval = services.approve_todo(todo.pk, **self.seen(todo, data))
        is_new = todo.status == TodoStatus.PENDING_REVIEW and self.caller_id in _approver_ids(approval)
        return {"message": _approval_message(approval, is_new=is_new), "approved": approved_payload(approval)}


@verb("reject", Reason)
class RejectTodo(TodoVerb):
    """Rejects a pending todo."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.reject_todo(todo.pk, actor=self.actor, reason=data.get("reason", ""))


@verb("cancel", Reason)
class CancelTodo(TodoVerb):
    """Cancels a todo that hasn't ended. A running todo stops before its next effect."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.cancel_todo(todo.pk, actor=self.actor, reason=data.get("reason", ""))


@verb("take", Seen)
class TakeTodo(TodoVerb):
    """Assigns a todo to you, to be done by hand. Its status becomes `in_progress`, `taker` is your name, and no tool
    runs for it.

    Works for todos that are pending (which approves them), approved but not started, or in need of attention. Members
    must pass `version` or `content_hash` for a pending todo. Returns 409 for any other status, and while the outcome of
    one of its effects is unknown.
    """

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.take_todo(todo.pk, **self.seen(todo, data))


@verb("complete", Note)
class CompleteTodo(TodoVerb):
    """Completes a todo that was taken on. Its promise is marked as kept."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.complete_todo(todo.pk, actor=self.actor, note=data.get("note", ""))


@verb("fail", Failure)
class FailTodo(TodoVerb):
    """Marks a todo that was taken on as failed. Its promise is marked as broken."""

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        manual_completion.fail_todo(todo.pk, actor=self.actor, reason=data["reason"])


@verb("review_again", Ticks)
class ReviewTodoAgain(TodoVerb):
    """Returns a todo that failed, needs attention or was taken on to review. `repeats` are the effects to execute
    again.
    """

    def act(self, todo: Todo, data: dict[str, Any]) -> None:
        services.review_again(todo.pk, actor=self.actor, repeats=data.get("repeats", ()))


class ApproveTodos(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_approve_many", request=ChoicesInput)
    def post(self, request: Request) -> TypedResponse[Page[TodoAnswerPayload]]:
        """Approves up to 200 todos, each with the version and hash you retrieved. A refusal doesn't affect the other
        todos.

        More than 20 require `confirmed`, and for members a recent sign-in. `unsent` lists the messages of each approved
        todo that would reach nobody; the rest of the todo runs.
        """
        data = self.valid(ChoicesInput)
        choices = [services.Choice(row["todo"], row["version"], row["content_hash"]) for row in data["todos"]]
        if len(choices) > MOST_UNCONFIRMED and self.caller.member is not None:
            require_recent_sign_in(request._request)
        known = _known(self.project, choices)
        results = services.approve_many(
            [one for one in choices if one.todo_id in known],
            actor=self.actor,
            member=self.caller.member,
            key=self.caller.key,
            confirmed=data["confirmed"],
        )
        unknown = [services.ApprovalResult(one.todo_id, refused=NO_TODO) for one in choices if one.todo_id not in known]
        return TypedResponse({"results": [_result_payload(result) for result in (*results, *unknown)], "next": None})


class RejectTodos(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_reject_many", request=RejectionsInput)
    def post(self, request: Request) -> TypedResponse[Page[TodoRejectionPayload]]:
        """Rejects up to 200 pending todos, each in the version you retrieved. A refusal doesn't affect the other todos."""
        data = self.valid(RejectionsInput)
        wanted = [services.Choice(row["todo"], row["version"], None) for row in data["todos"]]
        known = _known(self.project, wanted)
        rejected = services.reject_many(
            [one for one in wanted if one.todo_id in known], actor=self.actor, reason=data.get("reason", "")
        )
        unknown = [services.RejectionResult(one.todo_id, refused=NO_TODO) for one in wanted if one.todo_id not in known]
        return TypedResponse({"results": [_rejection_payload(one) for one in (*rejected, *unknown)], "next": None})


def _known(project: Project, choices: Iterable[services.Choice]) -> set[UUID]:
    """The ids among the choices that are todos of the project."""
    rows = Todo.objects.filter(project=project, pk__in=[one.todo_id for one in choices])
    return set(rows.values_list("pk", flat=True))


def _rejection_payload(result: services.RejectionResult) -> TodoRejectionPayload:
    return {"todo": str(result.todo_id), "refused": result.refused or None}


def _approver_ids(approval: Approval) -> tuple[UUID | None, ...]:
    """The members or the key that gave the approval."""
    return approval.approved_by, approval.key_id, approval.second_by


def _approval_message(approval: Approval, *, is_new: bool) -> str:
    verb = "Approved" if is_new else "Already approved"
    message = f"{verb} by {approval.approver} at {services.approved_at(approval)}"
    if not approval.is_complete:
        return f"{message}; a second person has to approve it as well."
    return f"{message}; it has no tools, so somebody has to take it on." if approval.is_by_hand else f"{message}."


def _result_payload(result: services.ApprovalResult) -> TodoAnswerPayload:
    return {
        "todo": str(result.todo_id),
        "approval": approval_payload(result.approval) if result.approval else None,
        "refused": result.refused or None,
        "unsent": unsent_payload(result.unsent),
    }
