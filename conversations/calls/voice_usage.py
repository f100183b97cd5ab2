"""The tokens of a call's realtime model, by kind, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from llm.prices import AUDIO, Prices, cost_usd
from llm.types import Usage

# More than any response uses.
MOST_TOKENS = 10_000_000


def tokens_of(response: Any) -> dict[str, int]:
    """The tokens of one response by kind, as `Call.usage` counts them; empty if the provider doesn't say."""
    usage = _mapping(response).get("usage")
    given, written = _mapping(_mapping(usage).get("input_token_details")), _mapping(usage).get("output_token_details")
    counts = {f"{kind}_in": given.get(f"{kind}_tokens") for kind in ("audio", "text", "cached")}
    counts |= {f"{kind}_out": _mapping(written).get(f"{kind}_tokens") for kind in ("audio", "text")}
    counts["cached_audio_in"] = _mapping(given.get("cached_tokens_details")).get("audio_tokens")
    return {kind: count for kind, count in counts.items() if isinstance(count, int) and 0 < count < MOST_TOKENS}


def cost_of(tokens: Mapping[str, int], *, model: str, prices: Prices) -> Decimal | None:
    """The price of tokens in USD; None if that of the model's text or audio is unknown."""
    cached_audio = tokens.get("cached_audio_in", 0)
    audio = Usage(
        input_tokens=tokens.get("audio_in", 0), cached_tokens=cached_audio, output_tokens=tokens.get("audio_out", 0)
    )
    cached_text = max(tokens.get("cached_in", 0) - cached_audio, 0)
    text = Usage(
        input_tokens=tokens.get("text_in", 0), cached_tokens=cached_text, output_tokens=tokens.get("text_out", 0)
    )
    costs = [
        cost_usd(name, usage, prices) if usage != Usage() else Decimal(0)
        for name, usage in ((f"{model}{AUDIO}", audio), (model, text))
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
