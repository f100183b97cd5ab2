"""Tokens of a realtime model, as the provider counts them, and their cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conversations.calls.voice_usage import cost_of, tokens_of

PRICES = {
    "gpt-realtime": (Decimal(4), Decimal("0.4"), Decimal(16)),
    "gpt-realtime:audio": (Decimal(32), Decimal("0.8"), Decimal(64)),
}
USED = {
    "audio_in": 3_000,
    "text_in": 2_000,
    "cached_in": 1_500,
    "cached_audio_in": 1_000,
    "audio_out": 400,
    "text_out": 100,
}


def test_tokens_are_counted_by_kind() -> None:
    usage = {
        "input_token_details": {
            "audio_tokens": 3_000,
            "text_tokens": 2_000,
            "cached_tokens": 1_500,
            "cached_tokens_details": {"audio_tokens": 1_000, "text_tokens": 500},
        },
        "output_token_details": {"audio_tokens": 400, "text_tokens": 100},
    }
    assert tokens_of({"usage": usage}) == USED


@pytest.mark.parametrize(
    "response", [None, {}, {"usage": 7}, {"usage": {"input_token_details": {"audio_tokens": "x"}}}]
)
def test_a_provider_that_says_nothing_counts_nothing(response: Any) -> None:
    assert tokens_of(response) == {}


def test_audio_and_text_have_prices_of_their_own() -> None:
    audio = 2_000 * 32 + 1_000 * Decimal("0.8") + 400 * 64
    text = 1_500 * 4 + 500 * Decimal("0.4") + 100 * 16
    assert cost_of(USED, model="gpt-realtime", prices=PRICES) == (audio + text) / 1_000_000


def test_without_the_price_of_its_audio_a_call_has_no_cost() -> None:
    prices = {"gpt-realtime": PRICES["gpt-realtime"]}
    assert cost_of(USED, model="gpt-realtime", prices=prices) is None
    assert cost_of({"text_in": 1_000}, model="gpt-realtime", prices=prices) == Decimal("0.004")
