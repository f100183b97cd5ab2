"""The orders API: a customer's orders, read from the shop. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, get_args
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.async_views import Continued, continues
from projects.api.example_values import FORMATS
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page
from projects.api.views import PROJECT_PARAMETER, ProjectView
from projects.common.api_error import ApiError, Unprocessable
from projects.common.middleware import request_id_of
from projects.models import Project
from projects.models.key import Scope
from tenancy.threads import in_db
from tools.services.orders.formatting import OrderPayload, order_data
from tools.services.orders.lookup import (
    MOST,
    USUAL,
    OrderQuery,
    Status,
    fetch_orders,
    load_connection,
    request_reconnect,
    shop_client,
)
from tools.services.orders.shop import ShopFailed, SignInRefused
from tools.services.orders.shopper import LARGEST, shopper_of

WHOSE = "Pass either persona (a customer who has signed in to the shop) or wp_user_id (their id there)."
NO_SHOP = "No shop is connected, or its sign-in was refused. Connect WooCommerce under Integrations."


class OrdersQuery(StrictSerializer):
    is_query = True

    persona = serializers.UUIDField(required=False)
    wp_user_id = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    limit = serializers.IntegerField(required=False, default=USUAL, min_value=1, max_value=MOST)
    status = serializers.ChoiceField(required=False, allow_blank=True, choices=get_args(Status))


@dataclass(frozen=True)
class OrderLookup:
    """A lookup to run. `query` is None for a customer who has never signed in to the shop."""

    organization_id: UUID
    project_id: UUID
    timezone: str
    query: OrderQuery | None


class Orders(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter(
                "persona",
                OpenApiTypes.UUID,
                description="a customer who has signed in to the shop",
                examples=[OpenApiExample("persona", value=FORMATS["uuid"])],
            ),
            OpenApiParameter(
                "wp_user_id",
                {"type": "integer", "minimum": 1, "maximum": LARGEST},
                description="the customer's id in the shop",
            ),
            OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL}),
            OpenApiParameter("status", OpenApiTypes.STR, enum=list(get_args(Status))),
        )
    }

    @extend_schema(
        operation_id="orders_list",
        responses={
            200: Page[OrderPayload],
            409: OpenApiResponse(description="No shop is connected."),
            422: OpenApiResponse(description="Not exactly one of `persona` and `wp_user_id`, or no such customer."),
            502: OpenApiResponse(description="The shop didn't answer with orders within five seconds."),
        },
    )
    def get(self, request: Request) -> Response:
        """List a customer's newest orders, as the shop reports them now."""
        data = {name: text for name, text in request.query_params.items() if name != PROJECT_PARAMETER}
        query = OrdersQuery(data=data)
        query.is_valid(raise_exception=True)
        return Continued(_order_lookup(self.project, dict(query.validated_data)))


@continues(Orders)
async def orders(request: HttpRequest, served: Continued[OrderLookup]) -> HttpResponseBase:
    """Query the shop."""
    try:
        results = await _fetch(served.state)
    except ApiError as problem:
        return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
    answer: Page[OrderPayload] = {"results": results, "next": None}
    return served.json(answer)


async def _fetch(lookup: OrderLookup) -> list[OrderPayload]:
    """Raises ApiError."""
    if lookup.query is None:
        return []
    connection = await in_db(load_connection, lookup.organization_id, lookup.project_id)
    if connection is None:
        raise ApiError("shop_not_connected", NO_SHOP, status=409)
    try:
        return [
            order_data(order)
            for order in await fetch_orders(shop_client(connection), lookup.query, timezone=lookup.timezone)
        ]
    except SignInRefused as error:
        await in_db(request_reconnect, lookup.organization_id, connection)
        raise ApiError("shop_not_connected", str(error), status=409) from error
    except ShopFailed as error:
        raise ApiError("shop_failed", str(error), status=502) from error


def _order_lookup(project: Project, data: dict[str, Any]) -> OrderLookup:
    """Raises ApiError."""
    if ("persona" in data) == ("wp_user_id" in data):
        raise Unprocessable("invalid", WHOSE, field="persona")
    customer_id = data.get("wp_user_id") or shopper_of(project, data["persona"])
    return OrderLookup(
        organization_id=project.organization.pk,
        project_id=project.pk,
        timezone=project.agent_version.config.timezone if project.agent_version else "UTC",
        query=None if customer_id is None else OrderQuery(customer_id, data["limit"], data.get("status") or None),
    )
