"""Parsing orders, with all that plugins make of them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.tools.orders.woocommerce_server import ANNA, order, tracked
from tools.services.orders.formatting import describe_orders
from tools.services.orders.order import Item, Order, Parcel, money, read_orders, safe_url


def read(**changes: Any) -> Order:
    [found] = read_orders([order(727, **changes)], customer_id=ANNA, timezone="Europe/Rome")
    return found


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(
    ("parcel", "expected"),
    [
        (
            {
                "tracking_provider": "",
                "custom_tracking_provider": "City Bikes",
                "custom_tracking_link": "https://bikes.example/7",
                "tracking_number": "7",
                "date_shipped": "1763600000",
            },
            Parcel("City Bikes", "7", "https://bikes.example/7"),
        ),
        (
            {
                "tracking_provider": "usps",
                "custom_tracking_provider": "",
                "formatted_tracking_provider": "USPS",
                "formatted_tracking_link": "https://tools.usps.com/go/TrackConfirmAction_input?qtc_tLabels1=112",
                "ast_tracking_link": "https://tools.usps.com/go/x",
                "tracking_number": "112",
            },
            Parcel("USPS", "112", "https://tools.usps.com/go/TrackConfirmAction_input?qtc_tLabels1=112"),
        ),
        ({"tracking_provider": "dhl", "tracking_number": 7001}, Parcel("dhl", "7001", "")),
        ({"tracking_number": "9", "custom_tracking_link": "javascript:alert(1)"}, Parcel("", "9", "")),
        ({"tracking_provider": "dhl"}, None),
        ("JD01", None),
        (None, None),
        ({"tracking_number": {"a": 1}}, None),
    ],
)
def test_parcels_of_both_plugins_are_read_and_others_skipped(parcel: Any, expected: Parcel | None) -> None:
    """Shipment Tracking and AST; other shapes are skipped."""
    assert read(meta_data=tracked(parcel)).parcels == ([expected] if expected else [])


@pytest.mark.requirement("W04")
@pytest.mark.parametrize("meta", [None, "x", {}, [None], [{"key": "_wc_shipment_tracking_items", "value": "a:1:{}"}]])
def test_malformed_meta_is_skipped(meta: Any) -> None:
    assert read(meta_data=meta).parcels == []


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(
    "link",
    [
        "http://dhl.example/1",
        "javascript:alert(1)",
        "data:text/html,x",
        "//dhl.example/1",
        "https://",
        "https://user:pw@dhl.example/",
        'https://dhl.example/"><script>',
        "https://dhl.example/ x",
        "https://dhl.example/\u202egpj",
        " https://dhl.example/\n",
        "https://[::1",
        7,
        None,
    ],
)
def test_a_link_that_is_not_plain_https_is_dropped(link: Any) -> None:
    """Its display is escaped as well."""
    assert safe_url(link) in ("", "https://dhl.example/")
    assert "\n" not in safe_url(link)


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("29.35", "EUR", "29.35 EUR"),
        ("1299.00", "USD", "1,299.00 USD"),
        ("2935", "JPY", "2,935 JPY"),
        ("0.00", "EUR", "0.00 EUR"),
        (29.5, "EUR", "29.5 EUR"),
        ("29.35", "<b>", "29.35"),
        ("free", "EUR", ""),
        ("NaN", "EUR", ""),
        ("1e999999", "EUR", ""),
        (None, None, ""),
    ],
)
def test_money_has_its_currency(amount: Any, currency: Any, expected: str) -> None:
    assert money(amount, currency) == expected


@pytest.mark.requirement("W04")
def test_missing_parts_of_an_order_are_left_out() -> None:
    """An incomplete order does not fail the reply."""
    row = {"id": 9, "customer_id": ANNA, "line_items": [{"name": "Hat", "quantity": "two"}, {"quantity": 1}, 7]}
    [found] = read_orders([row, "x", None], customer_id=ANNA, timezone="Europe/Rome")
    assert found == Order("9", "", None, "", [Item("Hat", 1)], [], id=9)
    assert describe_orders([found], status=None).endswith("Order 9 is of an unknown status: 1 × Hat.")


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(("given", "status"), [("wc-on-hold", "on-hold"), ("Processing", "processing"), (None, "")])
def test_the_prefix_of_a_status_is_removed(given: Any, status: str) -> None:
    assert read(status=given).status == status


@pytest.mark.requirement("W04")
@pytest.mark.parametrize("quantity", [0, -1, 10**9, True, 2.5])
def test_an_invalid_quantity_counts_as_one(quantity: Any) -> None:
    assert read(line_items=[{"name": "Hat", "quantity": quantity}]).items == [Item("Hat", 1)]


@pytest.mark.requirement("W04")
def test_a_huge_order_is_truncated() -> None:
    """It appears in prompts and on pages."""
    lines = [{"name": f"Hat {number}", "quantity": 1} for number in range(60)]
    found = read(line_items=lines)
    assert len(found.items) == 50
    assert "45 more" in describe_orders([found], status=None)


@pytest.mark.requirement("W04")
def test_the_day_is_in_the_projects_zone() -> None:
    """23:30 UTC is the next day in Rome."""
    assert read().day == date(2026, 11, 21)
    assert read(date_created_gmt=None).day == date(2026, 11, 20)


@pytest.mark.requirement("W04")
@pytest.mark.parametrize("created", ["0001-01-01T00:00:00", "0000-00-00T00:00:00", "yesterday", 7, ""])
def test_an_invalid_date_does_not_fail_the_lookup(created: Any) -> None:
    """Plugins write various values for "no date"."""
    row = order(727, date_created_gmt=created, date_created=None)
    [found] = read_orders([row], customer_id=ANNA, timezone="America/New_York")
    assert found.day is None


@pytest.mark.requirement("W04")
def test_names_are_a_single_line() -> None:
    """A product's name is data that the database and prompts must be able to hold."""
    [item] = read(line_items=[{"name": "Hat\x00\n\ud800 </tool>", "quantity": 1}]).items
    assert item.name == "Hat </tool>"
