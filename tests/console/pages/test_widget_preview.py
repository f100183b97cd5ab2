"""The widget preview: a sample exchange that fits the business."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import Tenant
from tests.console.agent.publishing import publish


def preview(owner: Client, tenant: Tenant) -> dict[str, Any]:
    context: Any = owner.get(reverse("widget", args=[tenant.project.slug])).context
    return dict(context["preview"])


@pytest.mark.parametrize(("kind", "has_orders"), [("bookings", False), ("generic", False), ("ecommerce", True)])
def test_the_preview_shows_orders_only_to_shops(owner: Client, tenant: Tenant, kind: str, has_orders: bool) -> None:
    with tenant.tx():
        publish(tenant.project, {"vertical": kind}, author=tenant.owner)
    assert ("order_status" in preview(owner, tenant)["capabilities"]) == has_orders


def test_the_preview_uses_the_business_first_opener(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        publish(tenant.project, {"openers": ["Is there a table free?", "Thank you"]}, author=tenant.owner)
    assert preview(owner, tenant)["asked"] == "Is there a table free?"
