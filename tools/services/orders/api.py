"""The API of orders: what the shop has of a customer. Nothing is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, get_args
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page
from projects.api.views import PROJECT_PARAMETER, ProjectView
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of
from projects.models import Project
from projects.models.key import Scope
from tenancy.threads import in_db
from tools.services.orders.formatting import OrderPayload, order_data
from tools.services.orders.lookup import (
    MOST,
    USUAL,
    Status,
    Wanted,
    ask_for_sign_in,
    fetch_orders,
    open_shop,
    shop_over,
)
from tools.services.orders.shop import ShopFailed, SignInRefused
from tools.services.orders.shopper import LARGEST, shopper_of

WHOSE = "Say whose orders, once: persona (a customer who has signed in to the shop) or wp_user_id (their id there)."
NO_SHOP = "No shop is connected, or its sign-in was refused. Connect WooCommerce on the page of integrations."


class OrdersQuery(StrictSerializer):
    persona = serializers.UUIDField(required=False)
    wp_user_id = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    limit = serializers.IntegerField(required=False, default=USUAL, min_value=1, max_value=MOST)
    status = serializers.ChoiceField(required=False, choices=get_args(Status))


@dataclass(frozen=True)
class Look:
    """What is looked up, and for which project. `wanted` is None for a customer who has never signed in to the shop."""

    organization_id: UUID
    project_id: UUID
    timezone: str
    wanted: Wanted | None


class Orders(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("persona", OpenApiTypes.UUID, description="a customer who has signed in to the shop"),
            OpenApiParameter(
                "wp_user_id", {"type": "integer", "minimum": 1}, description="the customer's id in the shop"
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
            502: OpenApiResponse(description="The shop didn't answer with orders within five seconds."),
        },
    )
    def get(self, request: Request) -> Response:
        """The newest orders of one customer, as the shop has them now."""
        asked = {name: text for name, text in request.query_params.items() if name != PROJECT_PARAMETER}
        checked = OrdersQuery(data=asked)
        checked.is_valid(raise_exception=True)
        return Continued(_look(self.project, dict(checked.validated_data)))


@continues(Orders)
async def orders(request: HttpRequest, served: Continued[Look]) -> HttpResponseBase:
    """Ask the shop."""
    try:
        found = await _found(served.state)
    except ApiError as problem:
        return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
    answer: Page[OrderPayload] = {"results": found, "next": None}
    return served.json(answer)


async def _found(look: Look) -> list[OrderPayload]:
    """Raises ApiError."""
    if look.wanted is None:
        return []
    connection = await in_db(open_shop, look.organization_id, look.project_id)
    if connection is None:
        raise ApiError("shop_not_connected", NO_SHOP, status=409)
    try:
        return [
            order_data(order)
            for order in await fetch_orders(shop_over(connection), look.wanted, timezone=look.timezone)
        ]
    except SignInRefused as error:
        await in_db(ask_for_sign_in, look.organization_id, connection)
        raise ApiError("shop_not_connected", str(error), status=409) from error
    except ShopFailed as error:
        raise ApiError("shop_failed", str(error), status=502) from error


def _look(project: Project, asked: dict[str, Any]) -> Look:
    """Raises ApiError."""
    if ("persona" in asked) == ("wp_user_id" in asked):
        raise ApiError("invalid", WHOSE, field="persona")
    customer_id = asked.get("wp_user_id") or shopper_of(project, asked["persona"])
    return Look(
        organization_id=project.organization.pk,
        project_id=project.pk,
        timezone=project.agent_version.config.timezone if project.agent_version else "UTC",
        wanted=None if customer_id is None else Wanted(customer_id, asked["limit"], asked.get("status")),
    )
