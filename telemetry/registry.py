"""Figures that other rooms add, as each of them registers its own."""

from __future__ import annotations

from telemetry.exposition import Source
from telemetry.sampling import Sample

# Read at each scrape.
SOURCES: list[Source] = []
# Taken every few seconds in each process.
SAMPLES: list[Sample] = []
