"""Rate limits: a token bucket in Redis, shared by all web processes."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

TIMEOUT_SECONDS = 0.25
# After an outage Redis is tried again after this pause; outages are logged once a minute.
PAUSE_SECONDS, LOG_SECONDS = 2.0, 60.0

# Atomic, by Redis's clock: refill the buckets, whose sizes are the arguments. Then take a token from each, or, if one is
# empty, from none. Return the milliseconds until all have one, and the whole tokens that each has left.
TAKE_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local tokens, wait = {}, 0
for i, key in ipairs(KEYS) do
    local size = tonumber(ARGV[i])
    local bucket = redis.call('HMGET', key, 'tokens', 'at')
    local since = math.max(0, now - (tonumber(bucket[2]) or now))
    tokens[i] = math.min(size, (tonumber(bucket[1]) or size) + since * size / 60000)
    if tokens[i] < 1 then wait = math.max(wait, size > 0 and math.ceil((1 - tokens[i]) * 60000 / size) or 60000) end
end
local answer = {wait}
for i, key in ipairs(KEYS) do
    local left = wait == 0 and tokens[i] - 1 or tokens[i]
    redis.call('HSET', key, 'tokens', tostring(left), 'at', now)
    redis.call('PEXPIRE', key, 60000)
    answer[i + 1] = math.floor(left)
end
return answer
"""


# The tokens of a bucket, without a change.
LEFT_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local size = tonumber(ARGV[1])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local since = math.max(0, now - (tonumber(bucket[2]) or now))
return math.floor(math.min(size, (tonumber(bucket[1]) or size) + since * size / 60000))
"""


class KeyThrottle(BaseThrottle):
    """`settings.API_REQUESTS_PER_MINUTE` per key or member, and `settings.PROJECT_REQUESTS_PER_MINUTE` per project.

    During a Redis outage every request is allowed.
    """

    _wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        caller = caller_of(request)
        if caller is None or not caller.throttled:
            return True
        taken = _limiter.take(
            {
                caller.identity: settings.API_REQUESTS_PER_MINUTE,
                f"project:{caller.project.pk}": settings.PROJECT_REQUESTS_PER_MINUTE,
            }
        )
        self._wait = taken.seconds or None
        return self._wait is None

    def wait(self) -> float | None:
        """Seconds until a token is available."""
        return self._wait


def seconds_to_wait(bucket: str, *, per_minute: int) -> float:
    """The wait for a public page's rate limit; 0 if the request is allowed or Redis is unavailable."""
    return _limiter.take({bucket: per_minute}).seconds


def take_tokens(sizes: Mapping[str, int]) -> Taken:
    """Take a token from each bucket, or from none. All have one while Redis is unavailable."""
    return _limiter.take(sizes)


@dataclass(frozen=True)
class Taken:
    """The seconds until each bucket has a token, 0 if one was taken from each, and the tokens that are left."""

    seconds: float
    left: Sequence[int]


class FailOpenLimiter:
    """Takes tokens from Redis, and skips Redis for a moment after it fails."""

    def __init__(self) -> None:
        self._ask_again_at = 0.0
        self._log_again_at = 0.0

    def take(self, sizes: Mapping[str, int]) -> Taken:
        """Take a token from each bucket. While Redis is unavailable, all are full."""
        if time.monotonic() >= self._ask_again_at:
            try:
                return take_token(sizes)
            except RedisError as error:
                self._note(error)
        return Taken(0.0, list(sizes.values()))

    def _note(self, error: RedisError) -> None:
        now = time.monotonic()
        self._ask_again_at = now + PAUSE_SECONDS
        if now >= self._log_again_at:
            self._log_again_at = now + LOG_SECONDS
            log.warning("Rate limits are off while Redis is unavailable: %s", error)


_limiter = FailOpenLimiter()


def tokens_taken(sizes: Mapping[str, int]) -> int:
    """The number of tokens that the first of these buckets lacks; 0 without one or while Redis is unavailable."""
    for bucket, size in sizes.items():
        try:
            return size - int(client().eval(LEFT_SCRIPT, 1, _key(bucket), size))
        except RedisError:
            return 0
    return 0


def take_token(sizes: Mapping[str, int]) -> Taken:
    """Take one token from each bucket. A bucket holds `size` tokens and refills in a minute.

    If one has none, all keep theirs. Raises RedisError.
    """
    keys = [_key(bucket) for bucket in sizes]
    milliseconds, *left = _script()(keys=keys, args=[*sizes.values()])
    return Taken(milliseconds / 1000, left)


def _key(bucket: str) -> str:
    return f"makegood:bucket:{bucket}"


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
        **settings.REDIS_SOCKET,
    )
