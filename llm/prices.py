"""Prices of model calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from llm.transcript import Transcript
from llm.types import Usage

# USD per million tokens of input, cached input and output, by model name
Prices = Mapping[str, tuple[Decimal, Decimal, Decimal]]

OFFLINE_PREFIX = "offline-"
# The price of a model's audio tokens, and that of a million seconds of sound, have names of their own.
AUDIO, SECONDS = ":audio", ":seconds"
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


def transcription_cost_usd(model: str, transcript: Transcript, prices: Prices) -> Decimal | None:
    """The price of a transcription in USD: by tokens if the server counted any, else by seconds. None if it is unknown."""
    usage, audio_price = transcript.usage, prices.get(f"{model}{AUDIO}")
    if usage == Usage():
        price = prices.get(f"{model}{SECONDS}")
        if price is None or not transcript.seconds:
            return cost_usd(model, usage, prices)
        return Decimal(str(transcript.seconds)) * price[0] / MILLION
    if audio_price is None:
        return cost_usd(model, usage, prices)
    audio = min(transcript.audio_tokens, usage.input_tokens)
    rest = cost_usd(model, replace(usage, input_tokens=usage.input_tokens - audio), prices)
    return None if rest is None else rest + audio * audio_price[0] / MILLION
