"""Sign-in and sign-up count their attempts in Redis, and pause while it can't count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.conftest import PASSWORD, Tenant


@pytest.fixture
def read_only_redis() -> Iterator[None]:
    """Redis refuses writes, as it does while its disk is full."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.config_set("min-replicas-to-write", 1)
        yield
        client.config_set("min-replicas-to-write", 0)


@pytest.mark.parametrize("page", ["account_login", "account_signup"])
def test_a_sign_in_while_redis_refuses_writes_says_to_try_again(
    tenant: Tenant, read_only_redis: None, page: str
) -> None:
    browser = Client(raise_request_exception=False)
    form = {"login": tenant.owner.email, "email": "new@example.org", "password": PASSWORD, "password1": PASSWORD}
    response = browser.post(reverse(page), form)
    assert (response.status_code, response["Retry-After"]) == (503, "2")
