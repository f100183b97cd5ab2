"""Rate limits: a token bucket in Redis, shared by all web processes."""

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

log = logging.getLogger(__name__)

PER_MINUTE = 600
TIMEOUT_SECONDS = 0.25
# After an outage Redis is tried again after this pause; outages are logged once a minute.
PAUSE_SECONDS, LOG_SECONDS = 2.0, 60.0

# Atomic, by Redis's clock: refill the bucket, then take a token or return the milliseconds until one is available.
TAKE_SCRIPT = """
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
    """`settings.API_REQUESTS_PER_MINUTE` per key or member, 600 by default. During a Redis outage every request is
    allowed.
    """

    _wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        caller = caller_of(request)
        if caller is None or not caller.throttled:
            return True
        milliseconds = _limiter.take(caller.bucket)
        self._wait = milliseconds / 1000 or None
        return self._wait is None

    def wait(self) -> float | None:
        """Seconds until a token is available."""
        return self._wait


def seconds_to_wait(bucket: str, *, per_minute: int) -> float:
    """The wait for a public page's rate limit; 0 if the request is allowed or Redis is unavailable."""
    return _limiter.take(bucket, size=per_minute) / 1000


class FailOpenLimiter:
    """Takes tokens from Redis, and skips Redis for a moment after it fails."""

    def __init__(self) -> None:
        self._ask_again_at = 0.0
        self._log_again_at = 0.0

    def take(self, bucket: str, *, size: int | None = None) -> int:
        """Milliseconds until a token is available; 0 if one was taken or Redis is unavailable."""
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
            log.warning("Rate limits are off while Redis is unavailable: %s", error)


_limiter = FailOpenLimiter()


def take_token(bucket: str, *, size: int | None = None) -> int:
    """Take one token from a bucket that holds `size` tokens and refills in a minute.

    Returns the milliseconds to wait if there is none. Raises RedisError.
    """
    capacity = size or int(getattr(settings, "API_REQUESTS_PER_MINUTE", PER_MINUTE))
    return int(_script()(keys=[f"makegood:bucket:{bucket}"], args=[capacity / 60_000, capacity]))


@cache
def _script() -> Any:
    return client().register_script(TAKE_SCRIPT)


@cache
def client() -> Redis:
    """The Redis client of this process. Commands are never retried."""
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
