"""Orders, parsed from the shop's response. Unreadable parts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

# Meta key of the parcels of both Shipment Tracking and Advanced Shipment Tracking (AST).
TRACKING = "_wc_shipment_tracking_items"
MOST_ITEMS, MOST_PARCELS = 50, 10
LARGEST_ID = 2**63 - 1
LONGEST_LINE, LONGEST_URL, LONGEST_AMOUNT = 200, 1000, 20


@dataclass(frozen=True)
class Item:
    """A line item."""

    name: str
    quantity: int


@dataclass(frozen=True)
class Parcel:
    """A shipment and its tracking link. `url` is https, or empty."""

    provider: str
    number: str
    url: str


@dataclass(frozen=True)
class Order:
    """An order. `day` is local to the project, `total` an amount with its currency; each is empty if unknown. `id` is the
    shop's, 0 if unknown.
    """

    number: str
    status: str
    day: date | None
    total: str
    items: Sequence[Item]
    parcels: Sequence[Parcel]
    id: int = 0


def read_orders(document: Any, *, customer_id: int, timezone: str) -> list[Order]:
    """Return this customer's orders from a response; those of others are dropped. Raises ValueError if it is not a
    list.
    """
    if not isinstance(document, list):
        raise ValueError("The shop's response is not a list of orders.")
    return [
        _order(row, timezone)
        for row in document
        if isinstance(row, dict) and _id(row.get("customer_id")) == customer_id
    ]


def _order(row: Mapping[str, Any], timezone: str) -> Order:
    return Order(
        number=_line(row.get("number") or row.get("id")),
        status=_line(row.get("status")).lower().removeprefix("wc-"),
        day=_day(row, timezone),
        total=money(row.get("total"), row.get("currency")),
        items=list(_items(row.get("line_items")))[:MOST_ITEMS],
        parcels=list(_parcels(row.get("meta_data")))[:MOST_PARCELS],
        id=min(max(_id(row.get("id")) or 0, 0), LARGEST_ID),
    )


def money(amount: Any, currency: Any) -> str:
    """Format an amount with its currency, like 1,299.00 EUR, with the shop's number of decimals."""
    try:
        read = Decimal(str(amount)[:LONGEST_AMOUNT])
    except InvalidOperation:
        return ""
    if not read.is_finite() or not -LONGEST_AMOUNT < read.adjusted() < LONGEST_AMOUNT:
        return ""
    code = currency if isinstance(currency, str) and re.fullmatch(r"[A-Z]{3}", currency) else ""
    return f"{read:,f} {code}".strip()


def safe_url(value: Any) -> str:
    """Return the link if it is safe to show (https, with a host, without credentials), else ""."""
    if not isinstance(value, str) or len(value) > LONGEST_URL or not value.isascii():
        return ""
    text = value.strip()
    if not text.isprintable() or re.search(r"[\s\"'<>\\^`{|}]", text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme == "https" and parts.hostname and "@" not in parts.netloc else ""


def _id(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _items(value: Any) -> Iterator[Item]:
    for row in value if isinstance(value, list) else ():
        if isinstance(row, dict) and (name := _line(row.get("name"))):
            quantity = row.get("quantity")
            yield Item(name, quantity if isinstance(quantity, int) and 0 < quantity < 1_000_000 else 1)


def _parcels(meta: Any) -> Iterator[Parcel]:
    """Yield the parcels of both plugins. A link entered by the shop takes precedence over a generated one."""
    stored = [row.get("value") for row in meta if _is_tracking(row)] if isinstance(meta, list) else []
    for parcel in (parcel for value in stored if isinstance(value, list) for parcel in value):
        if not isinstance(parcel, dict) or not (number := _line(parcel.get("tracking_number"))):
            continue
        names = ("custom_tracking_provider", "formatted_tracking_provider", "tracking_provider")
        links = ("custom_tracking_link", "formatted_tracking_link", "ast_tracking_link", "tracking_link")
        yield Parcel(
            provider=next((name for key in names if (name := _line(parcel.get(key)))), ""),
            number=number,
            url=next((url for key in links if (url := safe_url(parcel.get(key)))), ""),
        )


def _is_tracking(row: Any) -> bool:
    return isinstance(row, dict) and row.get("key") == TRACKING


def _day(row: Mapping[str, Any], timezone: str) -> date | None:
    """Return the order's day in the project's zone; in the shop's zone if there is no UTC time."""
    created = _moment(row.get("date_created_gmt"))
    if created is None:
        local = _moment(row.get("date_created"))
        return local.date() if local else None
    try:
        return created.replace(tzinfo=UTC).astimezone(ZoneInfo(timezone)).date()
    except OverflowError:
        # Some plugins use the earliest possible date for "none".
        return None


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _line(value: Any) -> str:
    """Return a text or number as one line without control characters, truncated; else ""."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = "".join(one if one.isprintable() else " " for one in str(value)[: LONGEST_LINE * 2])
    return " ".join(text.split())[:LONGEST_LINE]
