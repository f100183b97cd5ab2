"""Publishing to Redis without the client's own layers."""

from __future__ import annotations

import pytest
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from projects.common import redis_publish
from projects.common.redis_publish import publish


@pytest.fixture
def ear() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, decode_responses=True)


def test_a_restart_of_redis_between_two_commands_goes_unnoticed(ear):
    publish("LPUSH", "told", "before")
    ear.client_kill_filter(_type="normal", skipme=True)
    publish("LPUSH", "told", "after")
    assert ear.lrange("told", 0, -1) == ["after", "before"]
    ear.delete("told")


def test_publishing_does_not_wait_for_an_unavailable_redis(monkeypatch):
    nowhere = redis.ConnectionPool(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(redis_publish, "_connections", lambda: nowhere)
    monkeypatch.setattr(redis_publish, "_idle", type(redis_publish._idle)())
    with pytest.raises(redis.ConnectionError):
        publish("PUBLISH", "somewhere", "something")
