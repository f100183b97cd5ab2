"""Rate limits of API keys."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import Settings
from redis import RedisError

from projects.agents.services import create_key
from projects.api import throttling
from projects.api.throttling import client as redis_client
from projects.models.key import Scope
from tests.api.conftest import ClientFor, error_of
from tests.conftest import Tenant
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


def test_each_key_has_its_own_limit(client_for: ClientFor, two_a_minute: None) -> None:
    first = client_for(throttled=True)
    assert [first.get(NOTES).status_code for _ in range(3)] == [200, 200, 429]
    assert client_for(throttled=True).get(NOTES).status_code == 200


def test_all_keys_of_a_project_share_its_limit(client_for: ClientFor, settings: Settings) -> None:
    settings.PROJECT_REQUESTS_PER_MINUTE = 3
    first, second = client_for(throttled=True), client_for(throttled=True)
    assert [client.get(NOTES).status_code for client in (first, second, first, second)] == [200, 200, 200, 429]


def test_a_refused_request_takes_nothing_from_the_project(
    client_for: ClientFor, settings: Settings, two_a_minute: None
) -> None:
    """A key over its own limit leaves the project's tokens to the others."""
    settings.PROJECT_REQUESTS_PER_MINUTE = 4
    loud, quiet = client_for(throttled=True), client_for(throttled=True)
    assert [loud.get(NOTES).status_code for _ in range(6)] == [200, 200, 429, 429, 429, 429]
    assert [quiet.get(NOTES).status_code for _ in range(2)] == [200, 200]


def test_another_projects_requests_are_not_counted(client_for: ClientFor, stranger: Tenant, settings: Settings) -> None:
    settings.PROJECT_REQUESTS_PER_MINUTE = 1
    with stranger.tx():
        key = create_key(stranger.project, name="edge", scopes=list(Scope)).secret
    assert client_for(throttled=True).get(NOTES).status_code == 200
    assert Client(headers={"Authorization": f"Bearer {key}"}).get(NOTES).status_code == 200


def test_tokens_come_back(client_for: ClientFor, settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = settings.PROJECT_REQUESTS_PER_MINUTE = 60_000
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
    buckets = redis_client().keys("makegood:bucket:*")
    assert len(buckets) == 2
    assert all(0 < redis_client().pttl(bucket) <= 60_000 for bucket in buckets)


def test_without_redis_every_request_is_allowed_and_it_is_logged_once(
    client_for: ClientFor, settings: Settings, two_a_minute: None, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    client = client_for(throttled=True)
    with caplog.at_level(logging.WARNING, logger="projects.api.throttling"):
        assert {client.get(NOTES).status_code for _ in range(5)} == {200}
    assert len([record for record in caplog.records if record.name == "projects.api.throttling"]) == 1


def test_redis_is_retried_and_its_outage_logged_periodically(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Requests wait for it at most once in two seconds; the log gets one line a minute."""
    clock, asked = [0.0], list[float]()

    def is_away(sizes: Mapping[str, int]) -> int:
        asked.append(clock[0])
        raise RedisError("away")

    monkeypatch.setattr(throttling, "take_token", is_away)
    monkeypatch.setattr(throttling, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    outage = throttling.FailOpenLimiter()
    with caplog.at_level(logging.WARNING, logger="projects.api.throttling"):
        for clock[0] in (100.0, 101.9, 102.0, 103.0, 104.0, 159.9, 162.0):
            assert outage.take({"b": 1}).seconds == 0
    assert asked == [100.0, 102.0, 104.0, 159.9, 162.0]
    assert len(caplog.records) == 2


def test_a_page_has_its_own_limit() -> None:
    """Its window is in seconds, whatever the API's limit is."""
    bucket = f"page:{uuid4()}"
    assert throttling.seconds_to_wait(bucket, per_minute=1) == 0
    assert 50 < throttling.seconds_to_wait(bucket, per_minute=1) <= 60


def test_counting_restarts_after_redis_loses_its_data(client_for: ClientFor, two_a_minute: None) -> None:
    client = client_for(throttled=True)
    assert [client.get(NOTES).status_code for _ in range(3)] == [200, 200, 429]
    services.redis.restart()
    redis_client().flushall()
    assert client.get(NOTES).status_code == 200


def test_members_are_throttled_too(tenant: object, two_a_minute: None) -> None:
    browser = Client()
    browser.force_login(tenant.owner)  # type: ignore[attr-defined]
    statuses = [browser.get(NOTES, {"project": tenant.project.slug}).status_code for _ in range(3)]  # type: ignore[attr-defined]
    assert statuses == [200, 200, 429]
