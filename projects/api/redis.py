"""The edge's own door to Redis: impatient, because a request is waiting, and the answer can do without."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

SECONDS = 0.25


@cache
def client() -> Redis:
    """One client per process. No command is tried twice."""
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=SECONDS,
        socket_connect_timeout=SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
