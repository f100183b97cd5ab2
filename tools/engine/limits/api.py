"""The API of limits."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from projects.api.pagination import UNPAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id
from projects.models import Project
from projects.models.key import Scope
from projects.records.attributes import Origin
from tools.engine.limits.alerts import lift
from tools.engine.limits.catalogue import RULES, UNITS, Window
from tools.engine.limits.changes import set_organization_limit, set_project_limit
from tools.engine.limits.organization import SetBy
from tools.engine.limits.usage import Usage, usage_of
from tools.engine.policy import HIGHEST_LIMIT
from tools.models import OF_ORGANIZATIONS, Limit, LimitAlert

NAMED = OpenApiParameter("limit_name", str, OpenApiParameter.PATH, enum=[limit.value for limit in Limit])

SHARED = OpenApiParameter("limit_name", str, OpenApiParameter.PATH, enum=list(OF_ORGANIZATIONS))


class LimitInput(StrictSerializer):
    """`most` is a whole number in the limit's unit. 0 allows nothing; null returns to the default."""

    most = serializers.IntegerField(min_value=0, max_value=HIGHEST_LIMIT, allow_null=True)


class OrganizationLimitInput(StrictSerializer):
    """`most` is a whole number in the limit's unit. 0 allows nothing; null removes the limit."""

    most = serializers.IntegerField(min_value=0, max_value=HIGHEST_LIMIT, allow_null=True)


class LimitPayload(TypedDict):
    """A limit of the project, or of all projects of its organization together.

    `most` includes what staff has added today; null is no limit. `alert` identifies a reached limit that can be lifted.
    """

    name: Annotated[str, Limit]
    scope: Annotated[str, Origin]
    window: Annotated[str, Window]
    unit: Annotated[str, "USD, MB, or empty for a count."]
    used: int
    most: int | None
    set_by: Annotated[str, SetBy] | None
    is_reached: bool
    alert: Id | None


class Limits(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": UNPAGED}

    @extend_schema(operation_id="limits_list")
    def get(self, request: Request) -> TypedResponse[Page[LimitPayload]]:
        """Returns the use of each limit, of the project and then of its organization."""
        return self.whole([limit_payload(usage) for usage in usage_of(self.project)])


class LimitDetail(ProjectView):
    scopes: ClassVar = {"PUT": Scope.CONFIGURE}

    @extend_schema(operation_id="limits_write", request=LimitInput, parameters=[NAMED])
    def put(self, request: Request, limit_name: str) -> TypedResponse[LimitPayload]:
        """Sets a limit of the project."""
        if limit_name not in RULES:
            raise Http404
        most = self.valid(LimitInput)["most"]
        set_project_limit(self.project, limit_name, most, by=self.caller.user, actor=self.caller.name)
        return TypedResponse(_find(self.project, limit_name))


class OrganizationLimitDetail(ProjectView):
    scopes: ClassVar = {"PUT": Scope.OWNER}

    @extend_schema(operation_id="organization_limits_write", request=OrganizationLimitInput, parameters=[SHARED])
    def put(self, request: Request, limit_name: str) -> TypedResponse[LimitPayload]:
        """Sets a limit of all projects of the organization together. It can't exceed the operator's."""
        if limit_name not in OF_ORGANIZATIONS:
            raise Http404
        most = self.valid(OrganizationLimitInput)["most"]
        set_organization_limit(self.project, limit_name, most, by=self.caller.user, actor=self.caller.name)
        return TypedResponse(_find(self.project, limit_name, of_organization=True))


class LiftLimit(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(
        operation_id="limits_lift",
        request=None,
        responses={
            404: OpenApiResponse(description="This project has no such alert."),
            409: OpenApiResponse(description="The limit was lifted already, or is none of a day."),
        },
    )
    def post(self, request: Request, alert_id: UUID) -> TypedResponse[LimitPayload]:
        """Lifts a reached limit: as much again is allowed for 24 hours."""
        alert = LimitAlert.objects.select_related("project").filter(project=self.project, pk=alert_id).first()
        if alert is None:
            raise Http404
        lift(alert, by=self.caller.user, actor=self.caller.name)
        return TypedResponse(_find(self.project, alert.limit, of_organization=alert.of_organization))


def _find(project: Project, limit: str, *, of_organization: bool = False) -> LimitPayload:
    usages = {(usage.limit, usage.of_organization): usage for usage in usage_of(project)}
    return limit_payload(usages[limit, of_organization])


def limit_payload(usage: Usage) -> LimitPayload:
    rule = RULES[usage.limit]
    return {
        "name": usage.limit,
        "scope": Origin.ORGANIZATION if usage.of_organization else Origin.PROJECT,
        "window": rule.window.value,
        "unit": UNITS.get(usage.limit, ""),
        "used": usage.used,
        "most": usage.most,
        "set_by": usage.ceiling.set_by.value if usage.ceiling else None,
        "is_reached": usage.is_reached,
        "alert": str(usage.alert.pk) if usage.alert and rule.can_be_lifted else None,
    }
