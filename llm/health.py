"""The health of endpoints between calls: circuit breaker, retry budget, and rejected parameters."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from llm.errors import BreakerOpen
from llm.features import Features
from llm.types import Endpoint

FAILURES_TO_OPEN = 5
OPEN_FOR_S = 10.0
RETRY_WINDOW_S = 60.0
RETRY_SHARE_PERCENT = 10
RETRY_FLOOR = 3
MOST_ENDPOINTS = 1024
# After this time an endpoint may have been upgraded, so its rejected parameters are tried again
FEATURES_TTL_S = 3600.0


class Breaker:
    """A circuit breaker. Opens after five failures in a row; after ten seconds, one call probes the endpoint.

    The probe's outcome closes the breaker or opens it again. For one event loop only. After each `refusal` that returns
    None, call `succeeded`, `failed` or `abandoned`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    def refusal(self) -> BreakerOpen | None:
        """The error to raise instead of calling the endpoint, or None if a call may be made."""
        if self._opened_at is None:
            return None
        if self._is_probing or self._clock() - self._opened_at < OPEN_FOR_S:
            return BreakerOpen()
        self._is_probing = True
        return None

    def succeeded(self) -> None:
        self._failures = 0
        self._opened_at = None
        self._is_probing = False

    def failed(self) -> None:
        self._failures += 1
        if self._is_probing or self._failures >= FAILURES_TO_OPEN:
            self._opened_at = self._clock()
        self._is_probing = False

    def abandoned(self) -> None:
        """The call was canceled, which says nothing about the endpoint."""
        self._is_probing = False


class RetryBudget:
    """Allows one retry per ten calls of the last minute, and at least three per minute.

    Retries therefore can't double the load on a failing endpoint. For one event loop only.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()

    def count_call(self) -> None:
        now = self._clock()
        self._calls.append(now)
        _drop_before(self._calls, now - RETRY_WINDOW_S)

    def take(self) -> bool:
        """Return True if a retry is allowed now, and count it."""
        now = self._clock()
        _drop_before(self._calls, now - RETRY_WINDOW_S)
        _drop_before(self._retries, now - RETRY_WINDOW_S)
        if len(self._retries) >= max(RETRY_FLOOR, len(self._calls) * RETRY_SHARE_PERCENT // 100):
            return False
        self._retries.append(now)
        return True


def _drop_before(times: deque[float], limit: float) -> None:
    while times and times[0] < limit:
        times.popleft()


class EndpointHealth:
    """The breaker and retry budget of an endpoint, and the features of each of its models."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.breaker = Breaker()
        self.budget = RetryBudget()
        self._features: dict[str, Features] = {}
        self._features_reset_at = clock()

    def features_of(self, model: str) -> Features:
        now = self._clock()
        if now - self._features_reset_at >= FEATURES_TTL_S:
            self._features, self._features_reset_at = {}, now
        return self._features.setdefault(model, Features())


class HealthRegistry:
    """The health of recently called endpoints. The least recently used are dropped."""

    def __init__(self) -> None:
        self._by_endpoint: OrderedDict[Endpoint, EndpointHealth] = OrderedDict()

    def of(self, endpoint: Endpoint) -> EndpointHealth:
        health = self._by_endpoint.setdefault(endpoint, EndpointHealth())
        self._by_endpoint.move_to_end(endpoint)
        if len(self._by_endpoint) > MOST_ENDPOINTS:
            self._by_endpoint.popitem(last=False)
        return health
