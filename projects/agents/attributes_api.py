"""API of attributes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypedDict

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.agents.attribute_changes import KEY, KEY_RULE
from projects.api.openapi_types import pattern_schema
from projects.api.pagination import UNPAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.records.attributes import Origin, Resolved, every_attribute, set_attribute, unset_attribute

KEYED = OpenApiParameter("key", pattern_schema(KEY), OpenApiParameter.PATH)


class AttributeInput(StrictSerializer):
    value = serializers.JSONField()
    type = serializers.ChoiceField(choices=AttributeType.choices, required=False)


class Attributes(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": UNPAGED}

    @extend_schema(operation_id="attributes_list")
    def get(self, request: Request) -> TypedResponse[Page[AttributePayload]]:
        """List the project's attributes, including those inherited from the organization."""
        found = every_attribute(self.project)
        return self.whole([attribute_payload(found[key]) for key in sorted(found)])


class AttributeDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="attributes_read")
    def get(self, request: Request, key: str) -> TypedResponse[AttributePayload]:
        """Retrieve an attribute."""
        found = every_attribute(self.project).get(key)
        if found is None:
            raise Http404
        return TypedResponse(attribute_payload(found))

    @extend_schema(operation_id="attributes_write", request=AttributeInput, parameters=[KEYED])
    def put(self, request: Request, key: str) -> TypedResponse[AttributePayload]:
        """Set the project's own value."""
        data = self.valid(AttributeInput)
        if not KEY.fullmatch(key):
            raise ApiError("invalid", f"key: {KEY_RULE}", field="key")
        kind = AttributeType(data["type"]) if "type" in data else None
        return TypedResponse(attribute_payload(set_attribute(self.project, key, data["value"], type=kind)))

    @extend_schema(operation_id="attributes_delete", responses={204: None})
    def delete(self, request: Request, key: str) -> Response:
        """Remove the project's own value. The organization's value applies again."""
        if not unset_attribute(self.project, key):
            raise Http404
        return Response(status=204)


class AttributePayload(TypedDict):
    """An attribute. `value` is null for a secret."""

    key: str
    type: Annotated[str, AttributeType]
    value: Annotated[Any, "Of the attribute's type."]
    origin: Annotated[str, Origin]


def attribute_payload(attribute: Resolved) -> AttributePayload:
    return {"key": attribute.key, "type": attribute.type, "value": attribute.value, "origin": attribute.origin}
