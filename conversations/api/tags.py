"""The project's list of tags."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.known import require_line
from conversations.inbox.tags import change_tag, delete_tag, make_tag
from conversations.models import Tag, TagColor
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id
from projects.models.key import Scope


class TagPayload(TypedDict):
    """A tag. `color` names the state whose color it has: `mute`, `act`, `ok`, `warn` or `bad`."""

    id: Id
    name: str
    color: Annotated[str, TagColor]


def tag_payload(tag: Tag) -> TagPayload:
    return {"id": str(tag.pk), "name": tag.name, "color": tag.color}


class TagNameField(serializers.CharField):
    """The name of a tag, on one line. Raises Unprocessable for control characters, which OpenAPI can't exclude."""

    def to_internal_value(self, data: Any) -> str:
        text = " ".join(super().to_internal_value(data).split())
        require_line(text, field=str(self.field_name))
        return text


class TagInput(StrictSerializer):
    name = TagNameField(max_length=40)
    color = serializers.ChoiceField(choices=TagColor.choices, default=TagColor.GRAY)


class TagPatch(StrictSerializer):
    name = TagNameField(max_length=40, required=False)
    color = serializers.ChoiceField(choices=TagColor.choices, required=False)


class Tags(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="tags_list")
    def get(self, request: Request) -> TypedResponse[Page[TagPayload]]:
        """Returns the project's tags, newest first."""
        return self.page(Tag.objects.filter(project_id=self.project.pk), tag_payload)

    @extend_schema(operation_id="tags_create", request=TagInput)
    @idempotent
    def post(self, request: Request) -> Created[TagPayload]:
        """Adds a tag to the project's list."""
        data = self.valid(TagInput)
        return Created(tag_payload(make_tag(self.project, data["name"], color=data["color"])))


class TagDetail(ProjectView):
    scopes: ClassVar = {"PATCH": Scope.OPERATE, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="tags_change", request=TagPatch)
    def patch(self, request: Request, tag_id: UUID) -> TypedResponse[TagPayload]:
        """Renames or recolors a tag on every conversation that has it."""
        return TypedResponse(tag_payload(change_tag(self._tag(tag_id), self.valid(TagPatch))))

    @extend_schema(operation_id="tags_delete", responses={204: None})
    def delete(self, request: Request, tag_id: UUID) -> Response:
        """Deletes a tag and removes it from every conversation."""
        delete_tag(self._tag(tag_id))
        return Response(status=204)

    def _tag(self, tag_id: UUID) -> Tag:
        found = Tag.objects.select_for_update().filter(project_id=self.project.pk, pk=tag_id).first()
        if found is None:
            raise Http404
        return found
