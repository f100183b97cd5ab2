"""Registers the figures of jobs and model calls with the metrics."""

from __future__ import annotations

from jobs.queue_figures import queue_metrics
from jobs.samples import sample_breakers
from telemetry.registry import SAMPLES, SOURCES


def register_figures() -> None:
    """Called once, when all apps are ready."""
    SOURCES.append(queue_metrics)
    SAMPLES.append(sample_breakers)
