"""The API of resources."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id
from projects.models.key import Scope
from tools.models import Resource, ResourceKind
from tools.services.bookings.resources import (
    LARGEST,
    LONGEST_SLOT,
    SHORTEST_SLOT,
    change_resource,
    create_resource,
    remove_resource,
)


class ResourceInput(StrictSerializer):
    name = TextField(longest=120)
    kind = serializers.ChoiceField(choices=ResourceKind.choices, default=ResourceKind.TABLE)
    capacity = serializers.IntegerField(min_value=1, max_value=LARGEST, default=2)
    slot_minutes = serializers.IntegerField(min_value=SHORTEST_SLOT, max_value=LONGEST_SLOT, default=90)
    is_active = serializers.BooleanField(default=True)


class ResourceChange(StrictSerializer):
    name = TextField(longest=120, required=False)
    kind = serializers.ChoiceField(choices=ResourceKind.choices, required=False)
    capacity = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False)
    slot_minutes = serializers.IntegerField(min_value=SHORTEST_SLOT, max_value=LONGEST_SLOT, required=False)
    is_active = serializers.BooleanField(required=False)


class ResourcePayload(TypedDict):
    id: Id
    name: str
    kind: Annotated[str, ResourceKind]
    capacity: int
    slot_minutes: int
    is_active: bool


class Resources(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="resources_list")
    def get(self, request: Request) -> TypedResponse[Page[ResourcePayload]]:
        """List resources in the order of their creation."""
        return self.page(Resource.objects.filter(project=self.project), resource_data, ordering="id")

    @extend_schema(operation_id="resources_create", request=ResourceInput)
    @idempotent
    def post(self, request: Request) -> Created[ResourcePayload]:
        """Create a table, room or person."""
        return Created(resource_data(create_resource(self.project, **self.valid(ResourceInput))))


class ResourceDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="resources_read")
    def get(self, request: Request, resource_id: UUID) -> TypedResponse[ResourcePayload]:
        """Retrieve a resource."""
        return TypedResponse(resource_data(self._resource(resource_id)))

    @extend_schema(operation_id="resources_change", request=ResourceChange)
    def patch(self, request: Request, resource_id: UUID) -> TypedResponse[ResourcePayload]:
        """Update or deactivate a resource. Confirmed bookings keep their time and place."""
        changes = self.valid(ResourceChange)
        try:
            return TypedResponse(resource_data(change_resource(self._resource(resource_id), changes)))
        except Resource.DoesNotExist:
            raise Http404 from None

    @extend_schema(operation_id="resources_remove", responses={204: None})
    def delete(self, request: Request, resource_id: UUID) -> Response:
        """Delete a resource that was never booked. Returns 409 if it has bookings."""
        remove_resource(self._resource(resource_id))
        return Response(status=204)

    def _resource(self, resource_id: UUID) -> Resource:
        found = Resource.objects.filter(project=self.project, pk=resource_id).first()
        if found is None:
            raise Http404
        return found


def resource_data(resource: Resource) -> ResourcePayload:
    return {
        "id": str(resource.pk),
        "name": resource.name,
        "kind": resource.kind,
        "capacity": resource.capacity,
        "slot_minutes": resource.slot_minutes,
        "is_active": resource.is_active,
    }
