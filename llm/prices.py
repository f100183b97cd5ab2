"""Prices of model calls."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from llm.types import Usage

# USD per million tokens of input, cached input and output, by model name
Prices = Mapping[str, tuple[Decimal, Decimal, Decimal]]

OFFLINE_PREFIX = "offline-"
MILLION = Decimal(1_000_000)


def cost_usd(model: str, usage: Usage, prices: Prices) -> Decimal | None:
    """The price of `usage` in USD: zero for the offline model, None if the price or the usage is unknown."""
    if model.startswith(OFFLINE_PREFIX):
        return Decimal(0)
    price = prices.get(model)
    if price is None or usage == Usage():
        return None
    fresh, cached, output = price
    fresh_tokens = max(usage.input_tokens - usage.cached_tokens, 0)
    return (fresh_tokens * fresh + usage.cached_tokens * cached + usage.output_tokens * output) / MILLION
