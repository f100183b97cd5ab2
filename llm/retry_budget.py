"""Keeps retries from doubling the load on an endpoint that is already in trouble."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 60.0
SHARE_PERCENT = 10
FLOOR = 3


class RetryBudget:
    """At most one retry for ten calls of the last minute, and at least three a minute. For one event loop only."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()

    def count_call(self) -> None:
        now = self._clock()
        self._calls.append(now)
        _drop_before(self._calls, now - WINDOW_S)

    def take(self) -> bool:
        """Whether a retry is allowed now; a True is counted."""
        now = self._clock()
        _drop_before(self._calls, now - WINDOW_S)
        _drop_before(self._retries, now - WINDOW_S)
        if len(self._retries) >= max(FLOOR, len(self._calls) * SHARE_PERCENT // 100):
            return False
        self._retries.append(now)
        return True


def _drop_before(times: deque[float], limit: float) -> None:
    while times and times[0] < limit:
        times.popleft()
