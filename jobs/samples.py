"""Samples of this process's model clients."""

from __future__ import annotations

from jobs.model_client import open_breakers
from projects.agents.model_telemetry import provider_of
from telemetry.metrics import BREAKERS_OPEN

_told: set[str] = set()


def sample_breakers() -> None:
    """Count the circuit breakers that refuse calls, by provider. One that closed is told as zero."""
    counts: dict[str, int] = {}
    for endpoint in open_breakers():
        provider = provider_of(endpoint)
        counts[provider] = counts.get(provider, 0) + 1
    _told.update(counts)
    for provider in _told:
        BREAKERS_OPEN.set(counts.get(provider, 0), provider)
