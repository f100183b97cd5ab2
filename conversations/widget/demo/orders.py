"""The demo shop's order API: Clara's orders, in the format of the WooCommerce REST API.

It accepts the key of the demo's own agent, and only in demo mode. Dates are relative to today.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from conversations.widget.demo.project import demo_shop
from projects.connections.integrations import Connection, open_source
from projects.demo.shop import CLARA, KIND, business

STATUSES = frozenset({"any", "pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"})
MOST, USUAL = 100, 10
TRACK = "https://www.example.com/parcels/{number}"


@require_safe
def orders(request: HttpRequest) -> HttpResponse:
    """GET the orders of a `customer`, newest first; supports `per_page`, `status` and `_fields` as documented."""
    if not settings.DEMO_SHOP:
        raise Http404
    with demo_shop() as project:
        connection = open_source(project.pk, KIND)
    if connection is None or not _is_signed_in(request, connection):
        return _refused(401, "woocommerce_rest_authentication_error", "Consumer key is invalid.")
    query = request.GET
    invalid = _invalid_parameters(query)
    if invalid:
        return _refused(400, "rest_invalid_param", f"Invalid parameter(s): {invalid}")
    owned = (
        [_order(row) for row in business("shop")["orders"]] if query.get("customer") == str(CLARA.wp_user_id) else []
    )
    found = [one for one in owned if query.get("status", "any") in ("any", one["status"])]
    shown = [_only(one, query.get("_fields", "")) for one in found[: int(query.get("per_page", USUAL))]]
    return JsonResponse(shown, safe=False, headers={"X-WP-Total": str(len(found)), "Cache-Control": "no-store"})


def _is_signed_in(request: HttpRequest, connection: Connection) -> bool:
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    try:
        known = b64decode(sent, validate=True) if kind.lower() == "basic" else b""
    except ValueError:
        return False
    return constant_time_compare(known, f"{connection.settings.model_dump()['consumer_key']}:{connection.secret}")


def _invalid_parameters(query: Mapping[str, str]) -> str:
    """Names of the invalid parameters."""
    per_page, customer = query.get("per_page", str(USUAL)), query.get("customer", "")
    invalid = {
        "per_page": not (
            per_page.isascii() and per_page.isdigit() and len(per_page) < 9 and 1 <= int(per_page) <= MOST
        ),
        "customer": not (customer.isascii() and customer.isdigit()),
        "status": query.get("status", "any") not in STATUSES,
    }
    return ", ".join(name for name, is_wrong in invalid.items() if is_wrong)


def _order(row: Mapping[str, Any]) -> dict[str, Any]:
    items = [
        {
            "id": number,
            "name": name,
            "product_id": number,
            "quantity": quantity,
            "total": str(quantity * Decimal(price)),
        }
        for number, (name, quantity, price) in enumerate(row["items"], start=1)
    ]
    placed = (datetime.now(UTC) - timedelta(days=row["days_ago"])).strftime("%Y-%m-%dT10:24:00")
    return {
        "id": row["number"],
        "number": str(row["number"]),
        "status": row["status"],
        "currency": "EUR",
        "date_created": placed,
        "date_created_gmt": placed,
        "shipping_total": row["shipping"],
        "total": str(sum((Decimal(item["total"]) for item in items), Decimal(row["shipping"]))),
        "customer_id": CLARA.wp_user_id,
        "line_items": items,
        "meta_data": _tracking(row.get("parcel", "")),
    }


def _tracking(number: str) -> list[dict[str, Any]]:
    """A parcel in the format of the Shipment Tracking plugin."""
    if not number:
        return []
    parcel = {
        "tracking_provider": "",
        "custom_tracking_provider": "Corriere Espresso",
        "custom_tracking_link": TRACK.format(number=number),
        "tracking_number": number,
    }
    return [{"id": 1, "key": "_wc_shipment_tracking_items", "value": [parcel]}]


def _only(order: dict[str, Any], fields: str) -> dict[str, Any]:
    return {name: value for name, value in order.items() if not fields or name in fields.split(",")}


def _refused(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"code": code, "message": message, "data": {"status": status}}, status=status)
