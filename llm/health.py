"""What is remembered of an endpoint between calls."""

from __future__ import annotations

from llm.breaker import Breaker
from llm.budget import RetryBudget
from llm.features import Features


class EndpointHealth:
    """An endpoint's breaker and retry budget, and what each of its models understands."""

    def __init__(self) -> None:
        self.breaker = Breaker()
        self.budget = RetryBudget()
        self._features: dict[str, Features] = {}

    def features_of(self, model: str) -> Features:
        return self._features.setdefault(model, Features())
