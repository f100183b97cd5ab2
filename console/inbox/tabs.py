"""State tabs above a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tab:
    """A state with its count."""

    value: str
    label: str
    count: int
    is_open: bool


def tabs_of(labels: Mapping[str, str], counts: Mapping[str, int], *, chosen: str) -> Sequence[Tab]:
    """A tab for each state, in the order of `labels`."""
    return [Tab(value, label, counts.get(value, 0), value == chosen) for value, label in labels.items()]
