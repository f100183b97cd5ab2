"""Publishing to Redis without the client's own layers."""

from __future__ import annotations

import socket

import pytest
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from projects.common import redis_publish
from projects.common.redis_pause import RedisPause
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


def test_a_redis_that_does_not_answer_costs_one_timeout(monkeypatch):
    """Until the pause ends, nothing is sent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        pool = redis.ConnectionPool(host="127.0.0.1", port=port, socket_timeout=0.1, retry=Retry(NoBackoff(), 0))
        monkeypatch.setattr(redis_publish, "_connections", lambda: pool)
        monkeypatch.setattr(redis_publish, "_idle", type(redis_publish._idle)())
        monkeypatch.setattr(redis_publish, "redis_pause", RedisPause())
        with pytest.raises(redis.TimeoutError):
            publish("PUBLISH", "somewhere", "something")
        silent.accept()[0].close()
        with pytest.raises(redis.ConnectionError, match="a moment ago"):
            publish("PUBLISH", "somewhere", "something")
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):
            silent.accept()
