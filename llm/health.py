"""What is remembered of endpoints between calls."""

from __future__ import annotations

from collections import OrderedDict

from llm.breaker import Breaker
from llm.budget import RetryBudget
from llm.features import Features
from llm.types import Endpoint

MOST_ENDPOINTS = 1024


class EndpointHealth:
    """An endpoint's breaker and retry budget, and what each of its models understands."""

    def __init__(self) -> None:
        self.breaker = Breaker()
        self.budget = RetryBudget()
        self._features: dict[str, Features] = {}

    def features_of(self, model: str) -> Features:
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
