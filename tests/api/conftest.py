"""API keys of all kinds, and clients that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from projects.agents.services import create_key
from projects.api import throttling
from projects.api import throttling as edge_redis
from projects.models import ApiKey
from projects.models.key import Scope
from tests.conftest import Tenant

ClientFor = Callable[..., Client]


@pytest.fixture
def client_for(tenant: Tenant) -> ClientFor:
    """Create a client with a new key for the tenant's project."""

    def make(*scopes: Scope, throttled: bool = False, expires_at: datetime | None = None) -> Client:
        with tenant.tx():
            new = create_key(
                tenant.project, name="edge", scopes=scopes or list(Scope), throttled=throttled, expires_at=expires_at
            )
        return Client(headers={"Authorization": f"Bearer {new.secret}"})

    return make


@pytest.fixture
def key_row(tenant: Tenant) -> Callable[[], ApiKey]:
    """Load the tenant's key from the database."""

    def read() -> ApiKey:
        with tenant.tx():
            return ApiKey.objects.get(digest=ApiKey.digest_of(tenant.key))

    return read


@pytest.fixture
def fresh_throttle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A throttle without remembered outages or connections to an earlier server."""
    monkeypatch.setattr(throttling, "_limiter", throttling.FailOpenLimiter())
    for cached in (edge_redis.client, throttling._script):
        cached.cache_clear()
    yield
    for cached in (edge_redis.client, throttling._script):
        cached.cache_clear()


def error_of(response: Any, *, status: int) -> dict[str, Any]:
    """The error in a response, after checking its shape."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"].startswith("application/json")
    body = response.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"code", "message", "field", "request_id"}
    assert body["error"]["request_id"] == response.headers["X-Request-ID"]
    return body["error"]  # type: ignore[no-any-return]
