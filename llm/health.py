"""The health of endpoints between calls: circuit breaker, retry budget, and rejected parameters.

Breaker and budget belong to one tenant's calls of an endpoint: what one tenant sends must not pause another. The
rejected parameters are the endpoint's.
"""

from __future__ import annotations

import inspect
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from llm.errors import BreakerOpen
from llm.features import Features
from llm.types import Endpoint

FAILURES_TO_OPEN = 5
# The breaker's first pause. Each probe that fails doubles it.
OPEN_FOR_S = 1.0
LONGEST_OPEN_S = 8.0
RETRY_WINDOW_S = 60.0
RETRY_SHARE_PERCENT = 10
RETRY_FLOOR = 3
MOST_KNOWN = 4096
# After this time an endpoint may have been upgraded, so its rejected parameters are tried again
FEATURES_TTL_S = 3600.0


class Breaker:
    """A circuit breaker. Opens after five failures in a row; after a second, one call probes the endpoint.

    The probe's outcome closes the breaker or opens it again, for twice as long. For one event loop only. After each `refusal` that returns
    None, call `succeeded`, `failed` or `abandoned`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._last_failure = ""
        self._opened_at: float | None = None
        self._pauses = 0
        self._is_probing = False

    def refusal(self) -> BreakerOpen | None:
        """The error to raise instead of calling the endpoint, or None if a call may be made."""
        if self._opened_at is None:
            return None
        if self._is_probing or self._is_paused():
            return BreakerOpen(f"{inspect.getdoc(BreakerOpen)} {self._last_failure}".strip())
        self._is_probing = True
        return None

    @property
    def is_open(self) -> bool:
        """True while calls are refused, or one probes the endpoint."""
        return self._opened_at is not None

    def succeeded(self) -> None:
        self._failures = self._pauses = 0
        self._opened_at = None
        self._is_probing = False

    def failed(self, failure: str = "") -> None:
        """The endpoint failed a call. `failure` is what staff reads, beside the pause."""
        self._failures += 1
        self._last_failure = failure
        # A call that began before the breaker opened says nothing new
        if not self._is_paused() and (self._is_probing or self._failures >= FAILURES_TO_OPEN):
            self._opened_at = self._clock()
            self._pauses += 1
        self._is_probing = False

    def abandoned(self) -> None:
        """The call was canceled, which says nothing about the endpoint."""
        self._is_probing = False

    def _is_paused(self) -> bool:
        pause_s = min(OPEN_FOR_S * 2.0 ** (self._pauses - 1), LONGEST_OPEN_S)
        return self._opened_at is not None and self._clock() - self._opened_at < pause_s


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


class EndpointFeatures:
    """The features of an endpoint's models. A new endpoint is believed to have those of `Features.of_model`."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._features: dict[str, Features] = {}
        self._features_reset_at = clock()

    def of(self, model: str) -> Features:
        now = self._clock()
        if now - self._features_reset_at >= FEATURES_TTL_S:
            self._features, self._features_reset_at = {}, now
        return self._features.setdefault(model, Features.of_model(model))


class EndpointHealth:
    """The breaker and retry budget of one tenant's calls of an endpoint."""

    def __init__(self, features: EndpointFeatures) -> None:
        self.breaker = Breaker()
        self.budget = RetryBudget()
        self._features = features

    def features_of(self, model: str) -> Features:
        return self._features.of(model)


Key = TypeVar("Key")
Value = TypeVar("Value")


class HealthRegistry:
    """The health of recently called endpoints, for each tenant. The least recently used are dropped."""

    def __init__(self) -> None:
        self._features: OrderedDict[Endpoint, EndpointFeatures] = OrderedDict()
        self._health: OrderedDict[tuple[Endpoint, UUID], EndpointHealth] = OrderedDict()

    def of(self, endpoint: Endpoint, tenant: UUID) -> EndpointHealth:
        features = _recent(self._features, endpoint, EndpointFeatures)
        return _recent(self._health, (endpoint, tenant), lambda: EndpointHealth(features))

    def open_breakers(self) -> list[Endpoint]:
        """The endpoints with an open breaker, once for each tenant. Thread-safe."""
        return [endpoint for (endpoint, _), health in list(self._health.items()) if health.breaker.is_open]


def _recent(known: OrderedDict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    """The value of the key, made at its first use."""
    value = known.pop(key, None) or make()
    known[key] = value
    if len(known) > MOST_KNOWN:
        known.popitem(last=False)
    return value
