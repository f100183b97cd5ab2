"""lookup_order: the orders of the signed-in shopper, and of nobody else."""

from __future__ import annotations

import json
from threading import Event
from typing import Any

import pytest
from cryptography.fernet import Fernet

from conversations.models import TurnStatus
from tests.conversations.tool_runs.turns import Turns
from tests.tools.orders.conftest import TOOL, connect_shop, look_up, sign_in, source_of
from tests.tools.orders.woocommerce_server import ANNA, BERT, KEY, SECRET, WooCommerceServer, order, refusal, tracked
from tools.engine.catalogue import compile_tools
from tools.services.orders import shop as shop_module

DHL = {"tracking_provider": "dhl", "tracking_number": "JD01", "custom_tracking_link": "https://dhl.example/JD01"}


@pytest.mark.requirement("W04")
def test_the_agent_reads_the_shoppers_orders(anna: Turns, shop: WooCommerceServer) -> None:
    """Status, items and tracking, the total with its currency, and the day in the project's zone."""
    shop.script.orders = [order(727, meta_data=tracked(DHL))]
    assert look_up(anna) == (
        "1 order was found, the newest first. Order 727 of 21 November 2026 is processing, 1,299.00 EUR: 2 × Blue jacket, "
        "1 × Socks. Tracking: dhl JD01 (https://dhl.example/JD01)."
    )


@pytest.mark.requirement("W04")
def test_only_this_customers_orders_are_requested(anna: Turns, shop: WooCommerceServer) -> None:
    """With Basic authentication, and only the fields that are shown."""
    look_up(anna, {"limit": 3, "status": "completed"})
    [request] = shop.script.requests
    asked = {name: request.query[name] for name in ("customer", "per_page", "status")}
    assert asked == {"customer": str(ANNA), "per_page": "3", "status": "completed"}
    assert "billing" not in request.query["_fields"]


@pytest.mark.requirement("W04")
def test_five_orders_are_the_default(anna: Turns, shop: WooCommerceServer) -> None:
    shop.script.orders = [order(number) for number in range(700, 712)]
    told = look_up(anna)
    assert (shop.script.requests[0].query["per_page"], told.count("Order 7")) == ("5", 5)


@pytest.mark.requirement("W04")
def test_extra_orders_are_dropped(anna: Turns, shop: WooCommerceServer) -> None:
    """A plugin may ignore the limit."""
    rows = [order(number) for number in range(700, 712)]
    shop.script.answer = (200, json.dumps(rows).encode(), {})
    assert look_up(anna, {"limit": 3}).count("Order 7") == 3


@pytest.mark.requirement("W05")
def test_an_undecryptable_secret_is_explained_politely(anna: Turns, shop: WooCommerceServer, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert "A colleague can look into it for you." in look_up(anna)
    assert shop.script.requests == []


@pytest.mark.requirement("W04", "L19")
@pytest.mark.parametrize("arguments", [{"limit": 11}, {"limit": 0}, {"limit": "all"}, {"status": "lost"}])
def test_invalid_arguments_are_an_error_for_the_model(anna: Turns, shop: WooCommerceServer, arguments: Any) -> None:
    """Eleven orders are refused without a request to the shop."""
    assert look_up(anna, arguments).startswith("Error: The arguments don't fit the tool")
    assert shop.script.requests == []


@pytest.mark.requirement("W04", "W11")
def test_the_widget_gets_a_list_of_orders(anna: Turns, shop: WooCommerceServer) -> None:
    shop.script.orders = [order(727, status="completed", meta_data=tracked(DHL))]
    anna.calls_tool(TOOL)
    anna.says("There.")
    assert anna.block(anna.say("Where is my order?")) == {
        "type": "order_list",
        "orders": [
            {
                "number": "727",
                "status": "completed",
                "date": "2026-11-21",
                "total": "1,299.00 EUR",
                "items": [{"name": "Blue jacket", "quantity": 2}, {"name": "Socks", "quantity": 1}],
                "tracking": [{"provider": "dhl", "number": "JD01", "url": "https://dhl.example/JD01"}],
            }
        ],
    }


@pytest.mark.requirement("W04", "W11")
def test_without_orders_the_widget_shows_no_list(anna: Turns, shop: WooCommerceServer) -> None:
    shop.script.orders = []
    anna.calls_tool(TOOL)
    anna.says("There are none.")
    turn = anna.say("Where is my order?")
    assert anna.result(turn) == "The shop has no order of this customer."
    assert turn.reply is not None
    assert turn.reply.blocks == []


@pytest.mark.requirement("W05")
def test_an_order_of_another_customer_is_never_shown(anna: Turns, shop: WooCommerceServer) -> None:
    """Even if the shop or a plugin ignores the customer filter."""
    shop.script.ignores_customer = True
    shop.script.orders = [order(1, customer=BERT), order(2, customer=0), order(3), {**order(4), "customer_id": None}]
    assert "Order 3 of" in (told := look_up(anna))
    assert told.startswith("1 order was found")


@pytest.mark.requirement("W05")
@pytest.mark.parametrize(
    "claims", [{}, {"wp_user_id": 0}, {"wp_user_id": "42 or 1"}, {"wp_user_id": True}, {"sub": 42}]
)
def test_without_a_shopper_it_asks_to_sign_in(anna: Turns, shop: WooCommerceServer, claims: dict[str, Any]) -> None:
    """Politely, without an error or a request to the shop. 0 is the id of every guest."""
    sign_in(anna, **claims)
    told = look_up(anna)
    assert told.startswith("I can look your orders up as soon as you are signed in")
    assert shop.script.requests == []


@pytest.mark.requirement("W05")
def test_without_a_shop_it_says_so_politely(turns: Turns) -> None:
    """It is not an error."""
    turns.configure(vertical="ecommerce")
    sign_in(turns, wp_user_id=ANNA)
    assert look_up(turns).startswith("I can't look orders up here at the moment")


@pytest.mark.requirement("W04")
def test_a_slow_shop_becomes_a_sentence(anna: Turns, shop: WooCommerceServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the deadline, wherever the time is spent; the customer gets a reply."""
    assert shop_module.DEADLINE_S == 5.0
    monkeypatch.setattr(shop_module, "DEADLINE_S", 0.2)
    shop.script.may_answer = Event()
    anna.calls_tool(TOOL)
    anna.says("The shop doesn't answer just now.")
    turn = anna.say("Where is my order?")
    assert "The shop doesn't answer at the moment" in anna.result(turn)
    assert turn.status == TurnStatus.DONE


@pytest.mark.requirement("W04")
@pytest.mark.slow
def test_a_shop_slower_than_five_seconds_becomes_a_sentence(anna: Turns, shop: WooCommerceServer) -> None:
    """With the real deadline."""
    shop.script.may_answer = Event()
    assert "The shop doesn't answer at the moment" in look_up(anna)


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(
    "answer",
    [
        refusal(500, "internal", "Out of memory"),
        refusal(403, "rest_forbidden", "No"),
        refusal(404, "rest_no_route", "No"),
        (301, b"", {"Location": "https://elsewhere.example/"}),
        (200, b"<html>maintenance</html>", {}),
        (200, b'{"orders": []}', {}),
        (200, b"[" * 100_000, {}),
        (200, b"\x1f\x8b", {"Content-Encoding": "gzip"}),
        (200, b" " * (3 * 1024 * 1024), {}),
    ],
    ids=["500", "403", "404", "redirect", "page", "no list", "deep", "compressed", "huge"],
)
def test_a_broken_response_becomes_a_sentence(
    anna: Turns, shop: WooCommerceServer, answer: tuple[int, bytes, dict[str, str]]
) -> None:
    """The connection is not marked."""
    shop.script.answer = answer
    assert "The shop doesn't answer at the moment" in look_up(anna)
    assert source_of(anna).needs_reauth is False


@pytest.mark.requirement("W05", "F17")
def test_staff_is_notified_once_of_a_rejected_sign_in(
    anna: Turns, shop: WooCommerceServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The customer is not told, and the shop is not asked again."""
    connect_shop(anna.tenant, shop.url, secret="cs_wrong")
    assert "I can't look orders up here at the moment" in look_up(anna)
    assert source_of(anna).needs_reauth is True
    assert "I can't look orders up here at the moment" in look_up(anna)
    assert len(shop.script.requests) == 1
    assert caplog.text.count("has to be connected again") == 1


@pytest.mark.requirement("W04")
def test_the_tool_is_offered_only_to_online_shops(turns: Turns) -> None:
    """The capability order_status comes with the vertical ecommerce."""
    with turns.tenant.tx():
        before = {tool.name: tool.why_not for tool in compile_tools(turns.tenant.project, channel="chat")}
    assert "kind of business" in before[TOOL]
    turns.configure(vertical="ecommerce")
    with turns.tenant.tx():
        turns.tenant.project.refresh_from_db()
        after = {tool.name: tool.why_not for tool in compile_tools(turns.tenant.project, channel="chat")}
    assert after[TOOL] == ""


def test_the_ledger_stores_the_lookup_without_the_secret(anna: Turns) -> None:
    """The request as sent and the orders, but no credentials."""
    anna.calls_tool(TOOL)
    anna.says("There.")
    [effect] = anna.effects(anna.say("Where is my order?"))
    kept = json.dumps([effect.request, effect.result, effect.excerpt, effect.arguments])
    assert (effect.kind, effect.state, effect.delivery) == ("order_lookup", "done", "idempotent")
    assert [word for word in (SECRET, KEY, "Basic", "Via Roma") if word in kept] == []


@pytest.mark.requirement("W04")
def test_two_lookups_in_a_turn_both_run(anna: Turns, shop: WooCommerceServer) -> None:
    """A lookup is never a repeat."""
    for _ in range(2):
        anna.calls_tool(TOOL)
    anna.says("There.")
    anna.say("Where is my order?")
    assert len(shop.script.requests) == 2
