"""The health of endpoints between calls: circuit breaker, retry budget, and what each model understands."""

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
# After this an endpoint is asked for everything again: it may have been upgraded, and if not, it refuses once more
REFUSALS_STAND_FOR_S = 3600.0


class Breaker:
    """Opens after five failures in a row; ten seconds later one call may try, and its outcome closes or opens it again.

    Used from one event loop only. Each `refusal` of None is followed by one of the other three.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    def refusal(self) -> BreakerOpen | None:
        """Why no call may be made now, or None: then one may."""
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
        """The call did not come to an end: it says nothing about the endpoint."""
        self._is_probing = False


class RetryBudget:
    """At most one retry for ten calls of the last minute, and at least three a minute. For one event loop only."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: deque[float] = deque()
        self._retries: deque[float] = deque()

    def count_call(self) -> None:
        now = self._clock()
        self._calls.append(now)
        _drop_before(self._calls, now - RETRY_WINDOW_S)

    def take(self) -> bool:
        """Whether a retry is allowed now; a True is counted."""
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
    """An endpoint's breaker and retry budget, and what each of its models understands."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.breaker = Breaker()
        self.budget = RetryBudget()
        self._features: dict[str, Features] = {}
        self._asked_anew_at = clock()

    def features_of(self, model: str) -> Features:
        now = self._clock()
        if now - self._asked_anew_at >= REFUSALS_STAND_FOR_S:
            self._features, self._asked_anew_at = {}, now
        return self._features.setdefault(model, Features())


class HealthBook:
    """The health of the endpoints that were called lately; projects come and go, so the oldest are forgotten."""

    def __init__(self) -> None:
        self._by_endpoint: OrderedDict[Endpoint, EndpointHealth] = OrderedDict()

    def of(self, endpoint: Endpoint) -> EndpointHealth:
        health = self._by_endpoint.setdefault(endpoint, EndpointHealth())
        self._by_endpoint.move_to_end(endpoint)
        if len(self._by_endpoint) > MOST_ENDPOINTS:
            self._by_endpoint.popitem(last=False)
        return health
