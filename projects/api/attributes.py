"""The API of attributes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.doors import ProjectView
from projects.api.problem import ApiError
from projects.api.serializers import StrictSerializer
from projects.attribute_changes import KEY, KEY_RULE
from projects.attributes import Resolved, every_attribute, set_attribute, unset_attribute
from projects.models.attribute import AttributeType
from projects.models.key import Scope


class AttributeInput(StrictSerializer):
    value = serializers.JSONField()
    type = serializers.ChoiceField(choices=AttributeType.choices, required=False)


class Attributes(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="attributes_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Every attribute as the project sees it, with its origin."""
        found = every_attribute(self.project)
        return Response({"results": [attribute_payload(found[key]) for key in sorted(found)], "next": None})


class AttributeDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="attributes_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        """One attribute."""
        found = every_attribute(self.project).get(key)
        if found is None:
            raise Http404
        return Response(attribute_payload(found))

    @extend_schema(operation_id="attributes_write", request=AttributeInput, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, key: str) -> Response:
        """Set the project's own value."""
        data = self.valid(AttributeInput)
        if not KEY.fullmatch(key):
            raise ApiError("invalid", f"key: {KEY_RULE}", field="key")
        kind = AttributeType(data["type"]) if "type" in data else None
        return Response(attribute_payload(set_attribute(self.project, key, data["value"], type=kind)))

    @extend_schema(operation_id="attributes_delete", responses={204: None})
    def delete(self, request: Request, key: str) -> Response:
        """Remove the project's own value; the organization's holds again."""
        if not unset_attribute(self.project, key):
            raise Http404
        return Response(status=204)


def attribute_payload(attribute: Resolved) -> dict[str, Any]:
    return {"key": attribute.key, "type": attribute.type, "value": attribute.value, "origin": attribute.origin}
