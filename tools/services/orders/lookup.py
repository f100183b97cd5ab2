"""Order lookup for a signed-in shopper, in the connected shop."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, guard_for, mark_needs_reauth, open_source
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import refused_sign_in
from tools.services.orders.formatting import describe_orders, order_block, order_data
from tools.services.orders.order import Order, read_orders
from tools.services.orders.shop import Shop, ShopFailed, SignInRefused
from tools.services.orders.shopper import wp_user_id

log = logging.getLogger(__name__)

KIND = "woocommerce_products"
MOST, USUAL = 10, 5
ADAPTER = "woocommerce"
SIGN_IN = "I can look your orders up as soon as you are signed in to the shop. Please sign in there, and ask me again."
NOT_CONNECTED = "I can't look orders up here at the moment. A colleague can look into it for you."
NO_ANSWER = "The shop doesn't answer at the moment, so I couldn't look your orders up. Please ask me again in a moment."
Status = Literal["pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"]


class OrderArguments(BaseModel):
    """Filters for the customer's orders. The customer is not an argument."""

    limit: int = Field(
        USUAL, ge=1, le=MOST, description="How many of the newest orders: 5 unless the customer wants more."
    )
    status: Status | None = Field(None, description="Only orders of this status; null for all, which is usual.")


@dataclass(frozen=True)
class OrderQuery:
    """A query for the newest orders of one customer of the shop, after the first `offset` of them."""

    customer_id: int
    limit: int = USUAL
    status: str | None = None
    offset: int = 0

    @property
    def params(self) -> dict[str, str]:
        status = {"status": self.status} if self.status else {}
        offset = {"offset": str(self.offset)} if self.offset else {}
        return {"customer": str(self.customer_id), "per_page": str(self.limit), **status, **offset}


async def look_up_orders(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Return the shopper's newest orders. Without a shopper or a shop, a polite sentence is the result, not an error."""
    filters = OrderArguments.model_validate(arguments)
    customer_id = wp_user_id(context.shopper)
    if customer_id is None:
        return Outcome.done(SIGN_IN, result={"signed_in": False}, adapter=ADAPTER)
    connection = await in_db(load_connection, context.organization_id, context.project_id)
    if connection is None:
        return Outcome.done(NOT_CONNECTED, result={"connected": False}, adapter=ADAPTER)
    query = OrderQuery(customer_id, filters.limit, filters.status)
    shop = shop_client(connection)
    details = {"request": {"method": "GET", "url": shop.request_url(query.params)}, "adapter": ADAPTER}
    try:
        orders = await fetch_orders(shop, query, timezone=context.timezone)
    except SignInRefused as error:
        await in_db(request_reconnect, context.organization_id, connection)
        return refused_sign_in(str(error), told=NOT_CONNECTED, http_status=401, **details)
    except ShopFailed as error:
        return Outcome.failed(str(error), told=NO_ANSWER, **details)
    result = {"orders": [order_data(order) for order in orders]}
    told = describe_orders(orders, status=query.status)
    return Outcome.done(told, result=result, block=order_block(orders), http_status=200, **details)


async def fetch_orders(shop: Shop, query: OrderQuery, *, timezone: str) -> list[Order]:
    """Fetch the orders, up to the limit. No transaction may be open. Raises ShopFailed."""
    document = await shop.fetch(query.params)
    try:
        return read_orders(document, customer_id=query.customer_id, timezone=timezone)[: query.limit]
    except ValueError as error:
        raise ShopFailed(str(error)) from error


def shop_client(connection: Connection) -> Shop:
    return Shop(connection, guard=guard_for(connection.settings))


def load_connection(organization_id: UUID, project_id: UUID) -> Connection | None:
    """Return the project's connection to its shop; None if there is none or its sign-in was rejected."""
    with tenant_tx(organization_id):
        try:
            connection = open_source(project_id, KIND)
        except WrongSecret:
            log.error("The shop of project %s can't be opened: its secret was encrypted with another key.", project_id)
            return None
    return None if connection is None or connection.needs_reauth else connection


def request_reconnect(organization_id: UUID, tried: Connection) -> None:
    """Notify staff, once, that the shop must be reconnected."""
    with tenant_tx(organization_id):
        if mark_needs_reauth(tried.source_id, tried=tried):
            log.warning("The shop %s has to be connected again.", tried.source_id)
