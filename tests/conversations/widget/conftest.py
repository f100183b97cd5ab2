"""A business with a widget in its shop, and visitors of the shop."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest
from django.test import Client

from projects.models import Widget
from projects.widget.widgets import WidgetEdit, renew_shopper_secret, save_widget
from tests.conftest import Tenant

SHOP = "https://shop.example"


@dataclass(frozen=True)
class Placed:
    """A tenant's widget, and the secret its shop signs with."""

    tenant: Tenant
    widget: Widget
    secret: str

    @property
    def key(self) -> str:
        return self.widget.public_key

    def signed(self, *, algorithm: str = "HS256", secret: str | None = None, **claims: Any) -> str:
        """A shopper token; `exp` defaults to one hour from now, and None omits a claim."""
        said = {"exp": int(time.time()) + 3600, "shopper": {"wp_user_id": 17, "name": "Clara"}, **claims}
        kept = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(kept, self.secret if secret is None else secret, algorithm=algorithm)


def place_widget(tenant: Tenant, *, origins: tuple[str, ...] = (SHOP,), **theme: Any) -> Placed:
    with tenant.tx():
        widget = save_widget(tenant.project, WidgetEdit(list(origins), theme, is_enabled=True), by=tenant.owner)
        secret = renew_shopper_secret(tenant.project, by=tenant.owner)
    return Placed(tenant, widget, secret)


@dataclass
class Visitor:
    """A browser on a page with a widget."""

    placed: Placed
    origin: str = SHOP
    token: str = ""
    client: Client = field(default_factory=Client)

    def ask(self, method: str, door: str, body: Any = None, **headers: str) -> Any:
        known = {"Origin": self.origin, "Authorization": f"Bearer {self.token}"}
        said = {name: value for name, value in (known | headers).items() if value}
        path = f"/widget/{self.placed.key}/{door}"
        return self.client.generic(method, path, _json(body), content_type="application/json", headers=said)

    def open(self, *, shopper: str = "", **headers: str) -> Any:
        """Open a session as the script does, and keep its token."""
        answer = self.ask("POST", "session", {"token": self.token, "shopper": shopper}, Authorization="", **headers)
        if answer.status_code == 200:
            self.token = answer.json()["token"]
        return answer

    def say(self, content: str, **headers: str) -> Any:
        return self.ask("POST", "messages", {"content": content}, **headers)


def _json(body: Any) -> bytes:
    return json.dumps(body).encode() if body is not None else b""


@pytest.fixture
def placed(tenant: Tenant) -> Placed:
    return place_widget(tenant)


@pytest.fixture
def visit(placed: Placed) -> Callable[..., Visitor]:
    """A factory of visitors with an open session."""

    def make(**known: Any) -> Visitor:
        visitor = Visitor(placed, **known)
        assert visitor.open().status_code == 200
        return visitor

    return make


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    return visit()


def refusal(answer: Any, status: int) -> str:
    """The error code of a refused request."""
    assert answer.status_code == status, answer.content
    return str(answer.json()["error"]["code"])
