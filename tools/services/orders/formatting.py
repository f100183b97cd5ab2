"""Orders as text for the agent, as a block for the widget, and as API payloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from tools.services.orders.order import Order

NAMED_ITEMS = 5
STATUS_WORDS = {"pending": "waiting for payment", "on-hold": "on hold", "checkout-draft": "not placed yet"}


def describe_orders(orders: Sequence[Order], *, status: str | None) -> str:
    """Describe orders for the agent, newest first, one sentence each."""
    if not orders:
        return (
            f"The shop has no order of this customer that is {_words(status)}."
            if status
            else ("The shop has no order of this customer.")
        )
    count = "1 order was" if len(orders) == 1 else f"{len(orders)} orders were"
    return " ".join([f"{count} found, the newest first.", *(_sentence(order) for order in orders)])


def order_block(orders: Sequence[Order]) -> dict[str, Any] | None:
    """Return the widget's block; None if there are no orders."""
    return {"type": "order_list", "orders": [order_data(order) for order in orders]} if orders else None


class OrderItemPayload(TypedDict):
    name: str
    quantity: int


class ParcelPayload(TypedDict):
    """`url` is empty if there is no safe one."""

    provider: str
    number: str
    url: str


class OrderPayload(TypedDict):
    """An order as the shop reports it; missing values are empty. `date` is a day, `total` an amount with its currency."""

    number: str
    status: str
    date: str
    total: str
    items: list[OrderItemPayload]
    tracking: list[ParcelPayload]


def order_data(order: Order) -> OrderPayload:
    return {
        "number": order.number,
        "status": order.status,
        "date": order.day.isoformat() if order.day else "",
        "total": order.total,
        "items": [{"name": item.name, "quantity": item.quantity} for item in order.items],
        "tracking": [
            {"provider": parcel.provider, "number": parcel.number, "url": parcel.url} for parcel in order.parcels
        ],
    }


def _sentence(order: Order) -> str:
    day = f" of {order.day:%-d %B %Y}" if order.day else ""
    facts = [f"Order {order.number}{day} is {_words(order.status)}", *([order.total] if order.total else [])]
    items = [f"{item.quantity} × {item.name}" for item in order.items[:NAMED_ITEMS]]
    if more := len(order.items) - len(items):
        items.append(f"{more} more")
    parcels = [
        " ".join(part for part in (parcel.provider, parcel.number, f"({parcel.url})" if parcel.url else "") if part)
        for parcel in order.parcels
    ]
    sentence = ", ".join(facts) + (f": {', '.join(items)}" if items else "") + "."
    return f"{sentence} Tracking: {'; '.join(parcels)}." if parcels else sentence


def _words(status: str | None) -> str:
    return STATUS_WORDS.get(status or "", (status or "of an unknown status").replace("-", " "))
