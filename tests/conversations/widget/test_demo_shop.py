"""The demo shop: its project, its page, and its order API, which only its own agent may use."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from base64 import b64encode
from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.test import Client

from projects.agents.services import revoke_key, save_agent
from projects.connections.demo_store import demo_targets, store_url
from projects.connections.integration_types import KINDS
from projects.connections.integrations import Connection, SourceEdit, connect_source, open_source
from projects.demo.shop import CLARA, KIND, business, find_shop, keep_connected
from projects.management.commands.demo import EMAIL
from projects.models import ApiKey, Project, Source, User
from projects.models.agent_errors import SettingsRefused
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations
from tests.conftest import Tenant
from tools.services.orders.lookup import OrderQuery, fetch_orders, shop_client
from tools.services.orders.shop import ShopFailed

ORDERS = "/demo/shop/wp-json/wc/v3/orders"


@pytest.fixture
def demo(database: None) -> UUID:
    """The demo organization."""
    load_demo()
    return find_organizations(user_id=User.objects.get(email=EMAIL).pk)[0]


def load_demo() -> dict[str, str]:
    said = StringIO()
    call_command("demo", "--json", stdout=said)
    return dict(json.loads(said.getvalue()))


def connection_of(organization_id: UUID) -> Connection:
    with tenant_tx(organization_id):
        project = find_shop()
        assert project is not None
        keep_connected(project)
        found = open_source(project.pk, KIND)
    assert found is not None
    return found


def ask(connection: Connection, **query: Any) -> Any:
    known = f"{connection.settings.model_dump()['consumer_key']}:{connection.secret}"
    headers = {"Authorization": f"Basic {b64encode(known.encode()).decode()}"}
    return Client(headers=headers).get(ORDERS, query)


def test_reloading_the_demo_keeps_its_password_and_sessions(database: None) -> None:
    """The demo is loaded again after a migration; written-down credentials stay valid."""
    first, client = load_demo(), Client()
    assert client.login(username=EMAIL, password=first["password"])
    assert load_demo()["password"] == first["password"]
    assert client.get("/account/").status_code == 200


def test_the_demos_key_stays_valid_until_it_is_revoked(database: None) -> None:
    """`demo.json` stays correct if the command runs again."""
    first = load_demo()["api_key"]
    assert load_demo()["api_key"] == first
    caller = Client(headers={"Authorization": f"Bearer {first}"})
    assert caller.get("/api/v1/promises").status_code == 200
    with tenant_tx(find_organizations(user_id=User.objects.get(email=EMAIL).pk)[0]):
        revoke_key(ApiKey.objects.get(name="Demo"), by=None)
    second = load_demo()["api_key"]
    assert re.fullmatch(r"mg_[0-9a-f]{8}_[\w-]{43}", second)
    assert second not in (first, "")
    assert load_demo()["api_key"] == second
    assert caller.get("/api/v1/promises").status_code == 401


def test_loading_the_demo_again_leaves_settings_that_somebody_saved(demo: UUID) -> None:
    with tenant_tx(demo):
        project = Project.objects.order_by("created_at")[0]
        assert project.agent_version is not None
        changed = project.agent_version.config.model_copy(update={"agent_name": "Olga"})
        save_agent(project, config=changed, author=None, note="My own")
    load_demo()
    with tenant_tx(demo):
        live = Project.objects.select_related("agent_version").get(pk=project.pk).agent_version
    assert live is not None
    assert live.config.agent_name == "Olga"


def test_the_first_project_is_the_default(demo: UUID) -> None:
    """Its key and address are those in `demo.json`; loading the demo again duplicates nothing."""
    answer = load_demo()
    assert set(answer) == {"api_key", "email", "password", "project"}
    with tenant_tx(demo):
        trattoria, shop = Project.objects.order_by("created_at")
        assert (trattoria.name, trattoria.slug) == (business("restaurant")["project"], answer["project"])
        assert shop.name == business("shop")["project"]
        assert [source.project_id for source in Source.objects.filter(kind=KIND)] == [shop.pk]


@pytest.mark.requirement("W05")
def test_the_page_signs_clara_in_and_out(demo: UUID) -> None:
    """By the token in the script tag."""
    out, signed_in = (Client().get("/demo/shop", query).content.decode() for query in ({}, {"as": "clara"}))
    assert "data-shopper" not in out
    assert "Sign in as Clara" in out
    assert re.search(r'data-key="pk_[\w-]{24}" data-shopper="[\w.-]+"', signed_in)
    assert "Sign out" in signed_in


def test_the_page_lists_all_orders(demo: UUID) -> None:
    page = Client().get("/demo/shop").content.decode()
    for order in business("shop")["orders"]:
        for name, _, price in order["items"]:
            assert f"<b>{name}</b><span>€ {price}</span>" in page


@pytest.mark.requirement("W04")
def test_the_order_api_follows_the_woocommerce_documentation(demo: UUID) -> None:
    """The customer's own orders, newest first, and nothing of other customers."""
    connection = connection_of(demo)
    found = ask(connection, customer=CLARA.wp_user_id).json()
    assert [order["number"] for order in found] == ["1043", "1038", "1016"]
    assert {"id", "status", "currency", "total", "date_created_gmt", "customer_id", "line_items"} <= set(found[0])
    assert ask(connection, customer=18).json() == []
    refunded = ask(connection, customer=CLARA.wp_user_id, status="refunded", _fields="number,total").json()
    assert refunded == [{"number": "1016", "total": "62.90"}]
    for wrong in ({"customer": "1 or 1=1"}, {"customer": 17, "per_page": 101}, {"customer": 17, "status": "eaten"}):
        assert (ask(connection, **wrong).status_code, ask(connection, **wrong).json()["code"]) == (
            400,
            "rest_invalid_param",
        )


def test_the_order_api_is_closed_to_others_and_without_the_demo(demo: UUID, settings: Any) -> None:
    connection = connection_of(demo)
    for header in ("", "Basic", "Basic !", f"Basic {b64encode(b'ck_x:cs_x').decode()}", "Bearer x"):
        answer = Client(headers={"Authorization": header}).get(ORDERS, {"customer": 17})
        assert answer.status_code == 401, header
    settings.DEMO_SHOP = False
    assert ask(connection, customer=17).status_code == 404


def test_the_guard_admits_the_demos_order_api_only(demo: UUID, tenant: Tenant, settings: Any) -> None:
    """No other address of this machine, not for other requests, and not without the demo."""
    settings.BASE_URL = "http://127.0.0.1:8000"
    assert demo_targets(store_url()) == ["127.0.0.1:8000"]
    for other in ("http://127.0.0.1:8000", "http://127.0.0.1:8000/demo/shop/..", "http://127.0.0.1:8001/demo/shop"):
        assert demo_targets(other) == []
        with tenant.tx(), pytest.raises(SettingsRefused, match="private network"):
            connect_source(tenant.project, KINDS[KIND], edit(other), by=None)
    settings.DEMO_SHOP = False
    assert demo_targets(store_url()) == []
    with tenant.tx(), pytest.raises(SettingsRefused, match="private network"):
        connect_source(tenant.project, KINDS[KIND], edit(store_url()), by=None)


def edit(url: str) -> SourceEdit:
    return SourceEdit({"store_url": url, "consumer_key": "ck_0123456789"}, "cs_0123456789")


class _Served(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test server's requests out of the log."""


class _Server(ThreadedWSGIServer):
    def close_request(self, request: Any) -> None:
        super().close_request(request)
        connections.close_all()


@pytest.fixture
def served() -> Iterator[str]:
    """The product on a port of its own, in a thread."""
    server = _Server(("127.0.0.1", 0), _Served)
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.requirement("W04")
def test_the_agent_finds_the_orders_after_the_product_has_moved(demo: UUID, served: str, settings: Any) -> None:
    """Through the guard, at the product's current address; not without the demo."""
    settings.BASE_URL = served
    connection = connection_of(demo)
    assert connection.settings.server == f"{served}/demo/shop"
    orders = asyncio.run(fetch_orders(shop_client(connection), OrderQuery(CLARA.wp_user_id), timezone="Europe/Rome"))
    assert [(one.number, one.status, one.total) for one in orders[:2]] == [
        ("1043", "processing", "31.70 EUR"),
        ("1038", "completed", "62.00 EUR"),
    ]
    assert orders[1].parcels[0].url.startswith("https://")
    settings.DEMO_SHOP = False
    with pytest.raises(ShopFailed, match="private network"):
        asyncio.run(fetch_orders(shop_client(connection), OrderQuery(CLARA.wp_user_id), timezone="Europe/Rome"))
