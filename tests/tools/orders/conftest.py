"""A project with a connected shop, an agent for online shops, and a signed-in shopper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.models import Source
from tests.conftest import Tenant
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.tools.orders.woocommerce_server import ANNA, KEY, SECRET, WooCommerceServer, order

__all__ = ["turns"]

TOOL = "lookup_order"


@pytest.fixture
def shop() -> Iterator[WooCommerceServer]:
    with WooCommerceServer() as server:
        server.script.orders = [order(727)]
        yield server


@pytest.fixture
def anna(turns: Turns, shop: WooCommerceServer) -> Turns:
    """A conversation with a shopper whom the connected shop has signed in."""
    turns.configure(vertical="ecommerce")
    connect_shop(turns.tenant, shop.url)
    sign_in(turns, wp_user_id=ANNA)
    return turns


def connect_shop(tenant: Tenant, url: str, *, key: str = KEY, secret: str = SECRET) -> Source:
    with tenant.tx():
        edit = SourceEdit({"store_url": url, "consumer_key": key}, secret)
        return connect_source(tenant.project, KINDS["woocommerce_products"], edit, by=tenant.owner)


def sign_in(turns: Turns, **claims: Any) -> None:
    with turns.tenant.tx():
        turns.conversation.shopper = claims or None
        turns.conversation.save(update_fields=["shopper"])


def look_up(turns: Turns, arguments: Any = None) -> str:
    """Have the model look up orders, and return what it reads."""
    turns.calls_tool(TOOL, arguments)
    turns.says("There you are.")
    return turns.result(turns.say("Where is my order?"))


def source_of(turns: Turns) -> Source:
    with turns.tenant.tx():
        return Source.objects.get(kind="woocommerce_products")
