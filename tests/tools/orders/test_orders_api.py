"""GET /api/v1/orders: a customer's current orders in the shop."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.conftest import Tenant
from tests.conversations.tool_runs.turns import Turns
from tests.tools.orders.conftest import source_of
from tests.tools.orders.woocommerce_server import ANNA, BERT, WooCommerceServer, order, refusal

ORDERS = "/api/v1/orders"


def ask(api: Client, **query: Any) -> tuple[int, Any]:
    response = api.get(ORDERS, query)
    return response.status_code, response.json()


def test_orders_are_found_by_customer_and_by_the_shops_id(anna: Turns, shop: WooCommerceServer, api: Client) -> None:
    """A customer's id in the shop is the one that the shop signed."""
    shop.script.orders = [order(1, customer=BERT), order(2)]
    status, found = ask(api, persona=anna.conversation.persona_id)
    assert (status, [one["number"] for one in found["results"]], found["next"]) == (200, ["2"], None)
    _, found = ask(api, wp_user_id=BERT, limit=1, status="processing")
    assert [one["number"] for one in found["results"]] == ["1"]
    asked = shop.script.requests[-1].query
    assert (asked["per_page"], asked["status"]) == ("2", "processing")


def pages(api: Client, address: str) -> list[list[str]]:
    """The orders of each page, by following `next`."""
    found = []
    while address:
        answer = api.get(address).json()
        found.append([one["number"] for one in answer["results"]])
        address = answer["next"]
    return found


def test_the_cursor_leads_through_all_orders(anna: Turns, shop: WooCommerceServer, api: Client) -> None:
    shop.script.orders = [order(number) for number in (5, 4, 3, 2, 1)]
    assert pages(api, f"{ORDERS}?wp_user_id={ANNA}&limit=2") == [["5", "4"], ["3", "2"], ["1"]]
    assert pages(api, f"{ORDERS}?wp_user_id={ANNA}&limit=5") == [["5", "4", "3", "2", "1"]]


def test_an_order_that_comes_meanwhile_repeats_and_loses_none(
    anna: Turns, shop: WooCommerceServer, api: Client
) -> None:
    shop.script.orders = [order(number) for number in (4, 3, 2, 1)]
    _, first = ask(api, wp_user_id=ANNA, limit=2)
    shop.script.orders.insert(0, order(5))
    assert [number for page in pages(api, first["next"]) for number in page] == ["2", "1"]


def test_a_customer_who_never_signed_in_has_no_orders(anna: Turns, shop: WooCommerceServer, api: Client) -> None:
    other = anna.on("chat", external_id="bert")
    assert ask(api, persona=other.conversation.persona_id) == (200, {"results": [], "next": None})
    assert shop.script.requests == []


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        ({}, "persona", 422),
        ({"wp_user_id": ANNA, "limit": 11}, "limit", 400),
        ({"wp_user_id": ANNA, "cursor": "2"}, "cursor", 400),
        ({"wp_user_id": 0}, "wp_user_id", 400),
        ({"wp_user_id": "42 or 1"}, "wp_user_id", 400),
        ({"wp_user_id": ANNA, "status": "lost"}, "status", 400),
        ({"wp_user_id": ANNA, "customer": 7}, "customer", 400),
        ({"persona": "anna"}, "persona", 400),
        ({"persona": "01a2020c-70d1-7634-aca0-3f3a9223ca5c"}, "persona", 422),
    ],
)
def test_an_invalid_query_names_its_field(
    tenant: Tenant, api: Client, query: dict[str, Any], field: str, expected: int
) -> None:
    status, found = ask(api, **query)
    assert (status, found["error"]["field"]) == (expected, field)


def test_another_tenants_customer_is_not_found(anna: Turns, stranger: Tenant) -> None:
    """Neither are customers of another project."""
    api = Client(headers=stranger.headers)
    status, found = ask(api, persona=anna.conversation.persona_id)
    assert (status, found["error"]["code"]) == (422, "invalid_persona")


def test_without_a_shop_it_says_where_to_connect_one(tenant: Tenant, api: Client) -> None:
    status, found = ask(api, wp_user_id=ANNA)
    assert (status, found["error"]["code"]) == (409, "shop_not_connected")


def test_a_failing_shop_is_reported(anna: Turns, shop: WooCommerceServer, api: Client) -> None:
    shop.script.answer = refusal(500, "internal", "Out of memory")
    status, found = ask(api, wp_user_id=ANNA)
    assert (status, found["error"]["code"], found["error"]["message"]) == (
        502,
        "shop_failed",
        "The shop responded with 500.",
    )


@pytest.mark.requirement("F17")
def test_staff_is_notified_of_a_rejected_sign_in(anna: Turns, shop: WooCommerceServer, api: Client) -> None:
    shop.script.answer = refusal(401, "woocommerce_rest_authentication_error", "Consumer key is invalid.")
    status, _ = ask(api, wp_user_id=ANNA)
    assert (status, source_of(anna).needs_reauth) == (409, True)
