"""How often a key may call: a token bucket in Redis, shared by all web processes."""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Any

from django.conf import settings
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from projects.api.authentication import caller_of

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


log = logging.getLogger(__name__)

PER_MINUTE = 600
# Redis that was away is asked again after this long, and spoken of in the log once a minute.
PAUSE_SECONDS, LOG_SECONDS = 2.0, 60.0

# One step in Redis, by Redis's own clock: fill up, take one token, or say in how many milliseconds there is one.
TAKE = """
local per_ms, size = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = math.min(size, (tonumber(bucket[1]) or size) + math.max(0, now - (tonumber(bucket[2]) or now)) * per_ms)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = math.ceil((1 - tokens) / per_ms) end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(size / per_ms))
return wait
"""


class KeyThrottle(BaseThrottle):
    """`settings.API_REQUESTS_PER_MINUTE` per key or member, 600 by default. While Redis is away all are let in."""

    _wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        caller = caller_of(request)
        if caller is None or not caller.throttled:
            return True
        milliseconds = _outage.take(caller.bucket)
        self._wait = milliseconds / 1000 or None
        return self._wait is None

    def wait(self) -> float | None:
        """Seconds until there is a token."""
        return self._wait


class Outage:
    """Asks Redis, and remembers for a moment that it didn't answer."""

    def __init__(self) -> None:
        self._ask_again_at = 0.0
        self._log_again_at = 0.0

    def take(self, bucket: str, *, size: int | None = None) -> int:
        """Milliseconds to wait for a token; 0 when one was taken, or when Redis is away."""
        if time.monotonic() < self._ask_again_at:
            return 0
        try:
            return take_token(bucket, size=size)
        except RedisError as error:
            self._note(error)
            return 0

    def _note(self, error: RedisError) -> None:
        now = time.monotonic()
        self._ask_again_at = now + PAUSE_SECONDS
        if now >= self._log_again_at:
            self._log_again_at = now + LOG_SECONDS
            log.warning("Requests are not counted while Redis is away: %s", error)


def seconds_to_wait(bucket: str, *, per_minute: int) -> float:
    """For a page that is open to strangers: 0 when it may answer, which it always may while Redis is away."""
    return _outage.take(bucket, size=per_minute) / 1000


def take_token(bucket: str, *, size: int | None = None) -> int:
    """Take one token of a bucket that holds `size` and fills up in a minute; returns the milliseconds to wait when there is
    none. Raises RedisError."""
    holds = size or int(getattr(settings, "API_REQUESTS_PER_MINUTE", PER_MINUTE))
    return int(_script()(keys=[f"makegood:bucket:{bucket}"], args=[holds / 60_000, holds]))


@cache
def _script() -> Any:
    return client().register_script(TAKE)


_outage = Outage()
