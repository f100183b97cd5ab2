"""Durations as text."""

from __future__ import annotations

from datetime import timedelta


def span_of(length: timedelta) -> str:
    """The duration in one or two units: "312 ms", "3.2 s", "2 min 5 s", "14 h", "3 days"."""
    seconds = max(0.0, length.total_seconds())
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 3600:
        minutes, rest = divmod(int(seconds), 60)
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86400:.0f} days"
