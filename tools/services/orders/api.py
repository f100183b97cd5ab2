"""The orders API: a customer's orders, read from the shop. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
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
from projects.api.pagination import PAGED, given_cursor, request_url, with_cursor
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
from tools.services.orders.order import Order
from tools.services.orders.shop import ShopFailed, SignInRefused
from tools.services.orders.shopper import LARGEST, shopper_of

WHOSE = "Pass either persona (a customer who has signed in to the shop) or wp_user_id (their id there)."
LARGEST_OFFSET = 1_000_000
CURSOR_PARAMETER = next(one for one in PAGED if one.name == "cursor")
NO_SHOP = "No shop is connected, or its sign-in was refused. Connect WooCommerce under Integrations."


class OrdersQuery(StrictSerializer):
    is_query = True

    persona = serializers.UUIDField(required=False)
    wp_user_id = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)
    limit = serializers.IntegerField(required=False, default=USUAL, min_value=1, max_value=MOST)
    status = serializers.ChoiceField(required=False, allow_blank=True, choices=get_args(Status))


@dataclass(frozen=True)
class OrderPage:
    """A position in the shop's list, to which new orders are added at the beginning.

    The page begins after the order `last`, which was the one before `offset`.
    """

    offset: int = 0
    last: int = 0

    @property
    def cursor(self) -> str:
        """The position in the form of every list's cursor."""
        return f"{UUID(int=self.last)}.{self.offset:x}"

    def rest_of(self, orders: Sequence[Order]) -> Sequence[Order]:
        """The orders that the pages before didn't show."""
        ids = [order.id for order in orders]
        return orders[ids.index(self.last) + 1 :] if self.last and self.last in ids else orders


@dataclass(frozen=True)
class OrderLookup:
    """A lookup to run. `query` is None for a customer who has never signed in to the shop. `page` is where it goes on, and
    `url` the request's.
    """

    organization_id: UUID
    project_id: UUID
    timezone: str
    query: OrderQuery | None
    page: OrderPage
    url: str


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
            CURSOR_PARAMETER,
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
        """List a customer's orders, newest first, as the shop reports them now."""
        apart = (PROJECT_PARAMETER, CURSOR_PARAMETER.name)
        data = {name: text for name, text in request.query_params.items() if name not in apart}
        query = OrdersQuery(data=data)
        query.is_valid(raise_exception=True)
        page, url = _page_of(request), request_url(request)
        return Continued(_order_lookup(self.project, dict(query.validated_data), page=page, url=url))


@continues(Orders)
async def orders(request: HttpRequest, served: Continued[OrderLookup]) -> HttpResponseBase:
    """Query the shop."""
    try:
        answer = await _fetch(served.state)
    except ApiError as problem:
        return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
    return served.json(answer)


async def _fetch(lookup: OrderLookup) -> Page[OrderPayload]:
    """Raises ApiError."""
    if lookup.query is None:
        return {"results": [], "next": None}
    connection = await in_db(load_connection, lookup.organization_id, lookup.project_id)
    if connection is None:
        raise ApiError("shop_not_connected", NO_SHOP, status=409)
    try:
        found = await fetch_orders(shop_client(connection), lookup.query, timezone=lookup.timezone)
    except SignInRefused as error:
        await in_db(request_reconnect, lookup.organization_id, connection)
        raise ApiError("shop_not_connected", str(error), status=409) from error
    except ShopFailed as error:
        raise ApiError("shop_failed", str(error), status=502) from error
    return _answer(lookup, found, query=lookup.query)


def _answer(lookup: OrderLookup, found: Sequence[Order], *, query: OrderQuery) -> Page[OrderPayload]:
    """The page, and the address of the next one if the shop has one order more than fits."""
    new = lookup.page.rest_of(found)
    shown = new[: query.limit - 1]
    read = len(found) - len(new) + len(shown)
    next_page = OrderPage(query.offset + read, shown[-1].id if shown else lookup.page.last)
    url = with_cursor(lookup.url, next_page.cursor) if len(found) == query.limit else None
    return {"results": [order_data(order) for order in shown], "next": url}


def _page_of(request: Request) -> OrderPage:
    """Raises ApiError."""
    given = given_cursor(request)
    if given is None:
        return OrderPage()
    return OrderPage(min(int((given[2] or "0")[-16:] or "0", 16), LARGEST_OFFSET), UUID(given[1]).int)


def _order_lookup(project: Project, data: dict[str, Any], *, page: OrderPage, url: str) -> OrderLookup:
    """Raises ApiError."""
    if ("persona" in data) == ("wp_user_id" in data):
        raise Unprocessable("invalid", WHOSE, field="persona")
    customer_id = data.get("wp_user_id") or shopper_of(project, data["persona"])
    return OrderLookup(
        organization_id=project.organization.pk,
        project_id=project.pk,
        timezone=project.agent_version.config.timezone if project.agent_version else "UTC",
        # One order more than fits says that there is a next page.
        query=None
        if customer_id is None
        else OrderQuery(customer_id, data["limit"] + 1, data.get("status") or None, page.offset),
        page=page,
        url=url,
    )
