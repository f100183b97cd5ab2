"""API views that list, create, retrieve and update todos."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.common.api_error import ApiError
from projects.models.key import Scope
from todos import services
from todos.api.forms import TodoInput, TodoPatch
from todos.api.presenters import todo_payload
from todos.api.view import TodoView
from todos.content import types
from todos.hooks import find_customer
from todos.models import Todo, TodoSource, TodoStatus
from todos.payloads import TodoDetailPayload, TodoPayload


class Todos(TodoView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("status", OpenApiTypes.STR, enum=TodoStatus.values),
            OpenApiParameter("type", OpenApiTypes.STR, description="The id or name of a type."),
            OpenApiParameter("conversation", OpenApiTypes.UUID),
            *PAGED,
        )
    }

    @extend_schema(operation_id="todos_list", responses={422: OpenApiResponse(description="There is no such type.")})
    def get(self, request: Request) -> TypedResponse[Page[TodoPayload]]:
        """Returns a list of the project's todos without their steps and history, newest first. With `status`, todos are
        sorted by when they reached that status, latest first.
        """
        rows = Todo.objects.select_related("type", "promise").filter(project=self.project)
        params, ordering = request.query_params, "-created_at"
        if status := params.get("status"):
            rows, ordering = rows.filter(status=status), "-status_at"
        if (wanted_type := params.get("type")) is not None:
            rows = rows.filter(type=types.find_type(self.project, wanted_type))
        if (conversation := params.get("conversation")) is not None:
            rows = rows.filter(conversation_id=_uuid(conversation, field="conversation"))
        return self.page(rows, todo_payload, ordering=ordering)

    @extend_schema(operation_id="todos_create", request=TodoInput)
    @idempotent
    def post(self, request: Request) -> Created[TodoDetailPayload]:
        """Creates a todo for review. With `tool` and `arguments`, it runs exactly that call without a model."""
        data = self.valid(TodoInput)
        conversation_id = data.get("conversation")
        todo = services.make_todo(
            self.project,
            description=data["description"],
            title=data.get("title", ""),
            source=TodoSource.PERSON if self.caller.member else TodoSource.API,
            actor=self.actor,
            type=types.find_type(self.project, data["type"]) if data.get("type") else None,
            conversation_id=conversation_id,
            persona_id=find_customer(self.project, conversation_id=conversation_id, persona_id=data.get("persona")),
            tool=data.get("tool") or "",
            arguments=data.get("arguments"),
            recipients=data.get("recipients", ()),
        )
        return Created(self.detail(todo.pk))


class TodoDetail(TodoView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.OPERATE}

    @extend_schema(operation_id="todos_read")
    def get(self, request: Request, todo_id: UUID) -> TypedResponse[TodoDetailPayload]:
        """Retrieves a todo with its content, approval, steps, effects and history."""
        return TypedResponse(self.detail(todo_id))

    @extend_schema(operation_id="todos_change", request=TodoPatch)
    def patch(self, request: Request, todo_id: UUID) -> TypedResponse[TodoDetailPayload]:
        """Updates a pending or approved todo and returns it to review. With `version`, the update fails with 409 if the
        todo has changed.
        """
        services.get_todo(self.project, todo_id)
        data = self.valid(TodoPatch)
        version = data.pop("version", None)
        services.edit_todo(todo_id, self._changes(data), actor=self.actor, version=version)
        return TypedResponse(self.detail(todo_id))

    def _changes(self, data: dict[str, Any]) -> dict[str, Any]:
        changes = dict(data)
        if data.get("type"):
            changes["type"] = types.find_type(self.project, data["type"])
        if "tool" in data:
            changes["tool"] = data["tool"] or ""
        if "persona" in data:
            persona = changes.pop("persona")
            changes["persona_id"] = find_customer(self.project, conversation_id=None, persona_id=persona)
        return changes


def _uuid(value: str, *, field: str) -> UUID:
    try:
        return UUID(value)
    except ValueError as error:
        raise ApiError(f"invalid_{field}", f"{field} must be an id, as the API gives it.", field=field) from error
