"""What is remembered of endpoints between calls."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from llm.circuit_breaker import Breaker
from llm.features import Features
from llm.retry_budget import RetryBudget
from llm.types import Endpoint

MOST_ENDPOINTS = 1024
# After this an endpoint is asked for everything again: it may have been upgraded, and if not, it refuses once more
REFUSALS_STAND_FOR_S = 3600.0


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
