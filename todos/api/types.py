"""API views of todo types."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.pagination import PAGED
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.models.key import Scope
from todos.api.forms import TypeInput, TypePatch
from todos.api.presenters import type_payload
from todos.content import types
from todos.payloads import TodoTypePayload


class TodoTypes(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="todo_types_list")
    def get(self, request: Request) -> TypedResponse[Page[TodoTypePayload]]:
        """Returns a list of the project's todo types, by name."""
        return self.page(types.types_of(self.project), type_payload, ordering="name")

    @extend_schema(operation_id="todo_types_create", request=TypeInput)
    def post(self, request: Request) -> Created[TodoTypePayload]:
        """Creates a todo type: what to look for in conversations, which tools may run, and who approves."""
        return Created(type_payload(types.save_type(self.project, self.valid(TypeInput))))


class TodoTypeDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="todo_types_read")
    def get(self, request: Request, type_id: UUID) -> TypedResponse[TodoTypePayload]:
        """Retrieves a todo type."""
        return TypedResponse(type_payload(types.get_type(self.project, type_id)))

    @extend_schema(operation_id="todo_types_change", request=TypePatch)
    def patch(self, request: Request, type_id: UUID) -> TypedResponse[TodoTypePayload]:
        """Updates a todo type. Changing its name, model, tools or recipients voids the approvals of its todos."""
        return TypedResponse(type_payload(types.save_type(self.project, self.valid(TypePatch), type_id=type_id)))

    @extend_schema(operation_id="todo_types_delete", responses={204: None})
    def delete(self, request: Request, type_id: UUID) -> Response:
        """Deletes a todo type. Its todos stay, but need another type before they can be approved."""
        types.remove_type(self.project, type_id)
        return Response(status=204)
