"""A shop that responds as WooCommerce's REST API v3 documents, and validates requests as strictly."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.local_server import LocalServer, RawHandler

KEY = "ck_0123456789abcdef0123456789abcdef01234567"
SECRET = "cs_canary0of0the0shop00000000000000000000000"
STATUSES = {"any", "trash", "pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"}
ANNA, BERT = 42, 43


@dataclass
class Request:
    """A request as received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Script:
    """The shop's orders, and the next response: as documented, a given one, or none before `may_answer` is set."""

    orders: list[dict[str, Any]] = field(default_factory=list)
    answer: tuple[int, bytes, Mapping[str, str]] | None = None
    ignores_customer: bool = False
    may_answer: Event = field(default_factory=Event)
    requests: list[Request] = field(default_factory=list)


class _Visit(RawHandler):
    def handle(self) -> None:
        script: Script = self.server.script  # type: ignore[attr-defined]
        raw = self.read_request()
        parts = urlsplit(raw.target)
        request = Request(raw.method, parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)), raw.headers)
        script.requests.append(request)
        script.may_answer.wait(30)
        status, body, headers = script.answer or documented(request, script)
        self.respond(status, body, {"Content-Type": "application/json; charset=UTF-8", **headers})


class WooCommerceServer(LocalServer):
    def __init__(self) -> None:
        super().__init__(_Visit)
        self.script = Script()
        self.script.may_answer.set()
        self.url = self.origin

    def __exit__(self, *exc: object) -> None:
        self.script.may_answer.set()
        super().__exit__(*exc)


def refusal(status: int, code: str, message: str) -> tuple[int, bytes, Mapping[str, str]]:
    """Return an error in WordPress's format."""
    return status, json.dumps({"code": code, "message": message, "data": {"status": status}}).encode(), {}


def documented(request: Request, script: Script) -> tuple[int, bytes, Mapping[str, str]]:
    """Return WooCommerce's documented response."""
    credentials = b64encode(f"{KEY}:{SECRET}".encode()).decode()
    if request.path != "/wp-json/wc/v3/orders" or request.method != "GET":
        return refusal(404, "rest_no_route", "No route was found matching the URL and request method.")
    if request.headers.get("authorization") != f"Basic {credentials}":
        return refusal(401, "woocommerce_rest_authentication_error", "Consumer key is invalid.")
    if request.query.get("status", "any") not in STATUSES:
        return refusal(400, "rest_invalid_param", "Invalid parameter(s): status")
    if not 1 <= int(request.query.get("per_page", "10")) <= 100:
        return refusal(400, "rest_invalid_param", "Invalid parameter(s): per_page")
    found = [order for order in script.orders if _fits(order, request.query, script)]
    offset = int(request.query.get("offset", "0"))
    found = found[offset : offset + int(request.query.get("per_page", "10"))]
    if fields := request.query.get("_fields"):
        found = [{name: value for name, value in order.items() if name in fields.split(",")} for order in found]
    return 200, json.dumps(found).encode(), {"X-WP-Total": str(len(found)), "X-WP-TotalPages": "1"}


def _fits(order: Mapping[str, Any], query: Mapping[str, str], script: Script) -> bool:
    has_owner = script.ignores_customer or str(order["customer_id"]) == query.get("customer", str(order["customer_id"]))
    return has_owner and query.get("status", "any") in ("any", order["status"])


def order(number: int, *, customer: int = ANNA, status: str = "processing", **changes: Any) -> dict[str, Any]:
    """Return an order in the API's format, with the relevant fields."""
    return {
        "id": number,
        "parent_id": 0,
        "number": str(number),
        "order_key": f"wc_order_{number}",
        "created_via": "checkout",
        "version": "10.3.0",
        "status": status,
        "currency": "EUR",
        "date_created": "2026-11-20T23:30:00",
        "date_created_gmt": "2026-11-20T23:30:00",
        "discount_total": "0.00",
        "total": "1299.00",
        "customer_id": customer,
        "customer_note": "",
        "billing": {"first_name": "Anna", "address_1": "Via Roma 1", "email": "anna@example.org"},
        "payment_method": "bacs",
        "line_items": [
            {"id": 1, "name": "Blue jacket", "product_id": 93, "quantity": 2, "total": "1200.00", "sku": "JKT"},
            {"id": 2, "name": "Socks", "product_id": 22, "quantity": 1, "total": "99.00", "sku": ""},
        ],
        "meta_data": [],
        **changes,
    }


def tracked(*parcels: Any) -> list[dict[str, Any]]:
    """Return meta data with parcels as both plugins store them."""
    return [
        {"id": 1, "key": "_other", "value": "x"},
        {"id": 2, "key": "_wc_shipment_tracking_items", "value": [*parcels]},
    ]
