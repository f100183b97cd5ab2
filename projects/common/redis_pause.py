"""The pause after a silence of Redis, shared by everything in a process that can do without it."""

from __future__ import annotations

import time

import redis

PAUSE_SECONDS = 2.0


class RedisPause:
    """Begins when a command was not answered. Until it ends, commands are not worth their timeout."""

    def __init__(self) -> None:
        self._ends_at = 0.0

    def begin(self) -> None:
        self._ends_at = time.monotonic() + PAUSE_SECONDS

    def check(self) -> None:
        """Raises redis.ConnectionError during the pause."""
        if time.monotonic() < self._ends_at:
            raise redis.ConnectionError("Redis did not answer a moment ago.")


redis_pause = RedisPause()
