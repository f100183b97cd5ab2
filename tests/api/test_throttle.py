"""How often a key may call (API4)."""

from __future__ import annotations

import logging

import pytest
from django.test import Client
from pytest_django import Settings

from projects.api.redis import client as redis_client
from tests.api.conftest import ClientFor, error_of
from tests.services import services

pytestmark = [pytest.mark.urls("tests.api.edge"), pytest.mark.usefixtures("fresh_throttle")]
NOTES = "/api/v1/notes"


@pytest.fixture
def two_a_minute(settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2


def test_a_key_that_calls_too_often_is_429_with_retry_after(client_for: ClientFor, two_a_minute: None) -> None:
    client = client_for(throttled=True)
    assert [client.get(NOTES).status_code for _ in range(2)] == [200, 200]
    response = client.get(NOTES)
    assert error_of(response, status=429)["code"] == "throttled"
    assert 25 <= int(response.headers["Retry-After"]) <= 30


def test_another_key_has_its_own_count(client_for: ClientFor, two_a_minute: None) -> None:
    first = client_for(throttled=True)
    assert [first.get(NOTES).status_code for _ in range(3)] == [200, 200, 429]
    assert client_for(throttled=True).get(NOTES).status_code == 200


def test_tokens_come_back(client_for: ClientFor, settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 60_000
    client = client_for(throttled=True)
    assert {client.get(NOTES).status_code for _ in range(20)} == {200}


def test_an_unthrottled_key_is_never_counted(client_for: ClientFor, two_a_minute: None) -> None:
    redis_client().flushdb()
    client = client_for(throttled=False)
    assert {client.get(NOTES).status_code for _ in range(5)} == {200}
    assert redis_client().keys("makegood:bucket:*") == []


def test_a_bucket_is_forgotten_when_it_is_full_again(client_for: ClientFor) -> None:
    redis_client().flushdb()
    client_for(throttled=True).get(NOTES)
    (bucket,) = redis_client().keys("makegood:bucket:*")
    assert 0 < redis_client().pttl(bucket) <= 60_000


def test_without_redis_everything_is_let_in_and_logged_once(
    client_for: ClientFor, settings: Settings, two_a_minute: None, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    client = client_for(throttled=True)
    with caplog.at_level(logging.WARNING, logger="projects.api.throttling"):
        assert {client.get(NOTES).status_code for _ in range(5)} == {200}
    assert len([record for record in caplog.records if record.name == "projects.api.throttling"]) == 1


def test_redis_that_lost_everything_starts_counting_anew(client_for: ClientFor, two_a_minute: None) -> None:
    client = client_for(throttled=True)
    assert [client.get(NOTES).status_code for _ in range(3)] == [200, 200, 429]
    services.redis.restart()
    redis_client().flushall()
    assert client.get(NOTES).status_code == 200


def test_a_member_is_counted_too(tenant: object, two_a_minute: None) -> None:
    browser = Client()
    browser.force_login(tenant.owner)  # type: ignore[attr-defined]
    statuses = [browser.get(NOTES, {"project": tenant.project.slug}).status_code for _ in range(3)]  # type: ignore[attr-defined]
    assert statuses == [200, 200, 429]
