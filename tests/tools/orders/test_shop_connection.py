"""Shop connections: validation on save, and the connection check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.connections.integration_types import KINDS
from projects.connections.integrations import checked_settings, mark_needs_reauth
from projects.models.agent_errors import SettingsRefused
from tests.conftest import Tenant
from tests.tools.orders.conftest import connect_shop
from tests.tools.orders.woocommerce_server import KEY, SECRET, WooCommerceServer, refusal

pytestmark = pytest.mark.requirement("W05")


SHOP = KINDS["woocommerce_products"]
Try = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"store_url": "https://10.0.0.7"}, "store_url", "inside a private network"),
        ({"store_url": "https://localhost/shop"}, "store_url", "this machine itself"),
        ({"store_url": "https://[::1]:8443"}, "store_url", "inside a private network"),
        ({"store_url": "http://shop.example.com"}, "store_url", "Use https://"),
        ({"store_url": "http://169.254.169.254"}, "store_url", "inside a private network"),
        ({"store_url": "shop.example.com"}, "store_url", "must begin with http"),
        ({"store_url": "https://ck_x:cs_y@shop.example.com"}, "store_url", "user name or password"),
        ({"store_url": "https://shop.example.com/?a=1"}, "store_url", "after ? or #"),
        ({"consumer_key": "cs_0123456789abcdef"}, "consumer_key", "begins with ck_"),
        ({"consumer_key": ""}, "consumer_key", "begins with ck_"),
    ],
)
def test_an_invalid_shop_is_refused(typed: dict[str, str], field: str, sentence: str) -> None:
    """On save, with an error at the field; host names are resolved per request."""
    whole = {"store_url": "https://shop.example.com", "consumer_key": KEY, **typed}
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(SHOP, whole)
    assert list(refused.value.errors) == [field]
    assert sentence in refused.value.errors[field]


def test_plain_http_is_allowed_only_where_the_operator_allows_it(settings: Any) -> None:
    """For example, in a test network."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1:8099", "shop.local"]
    for url in ("http://127.0.0.1:8099", "http://shop.local/wp"):
        assert checked_settings(SHOP, {"store_url": f"{url}/", "consumer_key": KEY}).server == url
    with pytest.raises(SettingsRefused):
        checked_settings(SHOP, {"store_url": "http://shop.example.com", "consumer_key": KEY})


def test_a_shop_needs_its_secret(tenant: Tenant) -> None:
    with pytest.raises(SettingsRefused, match="Consumer secret is required"):
        connect_shop(tenant, "https://shop.example.com", secret="")


@pytest.fixture
def page(tenant: Tenant, settings: Any) -> Client:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    client = Client()
    client.force_login(tenant.owner)
    return client


@pytest.fixture
def try_it(tenant: Tenant, page: Client) -> Try:
    def post(kind: str) -> dict[str, Any]:
        url = reverse("integration_test", args=[tenant.project.slug, kind])
        answer: dict[str, Any] = page.post(url, {}, headers={"Accept": "application/json"}).json()
        return answer

    return post


def shown(page: Client, tenant: Tenant) -> str:
    address = reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "integrations"})
    return page.get(address).content.decode()


def test_a_shop_is_connected_on_the_page_without_showing_its_secret(tenant: Tenant, page: Client) -> None:
    """The form is built from the integration type's settings."""
    address = reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "integrations"})
    typed = {"settings.store_url": "https://shop.example.com/", "settings.consumer_key": KEY, "secret": SECRET}
    assert page.post(address, {"kind": SHOP.name, **typed}).status_code == 302
    text = shown(page, tenant)
    assert "https://shop.example.com" in text
    assert 'class="in-test"' in text
    assert SECRET not in text


def test_checking_a_working_shop_succeeds(tenant: Tenant, shop: WooCommerceServer, page: Client, try_it: Try) -> None:
    """One order is requested, and nothing of it is shown."""
    source = connect_shop(tenant, shop.url)
    with tenant.tx():
        mark_needs_reauth(source.pk)
    assert try_it(SHOP.name) == {"ok": True, "sentence": "The shop responded, and its orders can be read."}
    assert "Needs attention" not in shown(page, tenant)


@pytest.mark.requirement("F17")
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            refusal(401, "woocommerce_rest_authentication_error", "Consumer key is invalid."),
            "rejected the consumer key",
        ),
        (refusal(404, "rest_no_route", "No route"), "permalinks"),
        ((301, b"", {"Location": "https://www.shop.example/"}), "another address"),
        ((200, b"<html>", {}), "not JSON"),
        ((200, b'{"code": "maintenance"}', {}), "not a list of orders"),
    ],
)
def test_checking_a_failing_shop_says_why(
    tenant: Tenant, shop: WooCommerceServer, page: Client, try_it: Try, answer: Any, sentence: str
) -> None:
    """Only a rejected sign-in marks the connection."""
    connect_shop(tenant, shop.url)
    shop.script.answer = answer
    tried = try_it(SHOP.name)
    assert tried["ok"] is False
    assert sentence in tried["sentence"]
    assert ("Needs attention" in shown(page, tenant)) == (answer[0] == 401)
