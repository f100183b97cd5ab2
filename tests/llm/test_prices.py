"""Prices of model calls."""

from __future__ import annotations

from decimal import Decimal

from llm.prices import cost_usd
from llm.types import Usage

PRICES = {"m": (Decimal("2.5"), Decimal("0.25"), Decimal(10))}


def test_cached_tokens_have_their_own_price() -> None:
    assert cost_usd("m", Usage(1_000_000, 400_000, 100_000), PRICES) == Decimal("2.6")


def test_more_cached_tokens_than_input_tokens_are_no_discount() -> None:
    assert cost_usd("m", Usage(0, 1_000_000, 0), PRICES) == Decimal("0.25")


def test_the_price_of_an_unknown_model_is_unknown() -> None:
    assert cost_usd("other", Usage(1, 0, 1), PRICES) is None


def test_without_usage_the_price_is_unknown() -> None:
    assert cost_usd("m", Usage(), PRICES) is None


def test_the_offline_model_is_free() -> None:
    assert cost_usd("offline-large", Usage(1, 0, 1), PRICES) == 0
