"""How long a client waits for a reply."""

from __future__ import annotations

import math

from projects.common.api_error import ApiError

MAX_SECONDS = 60.0


def wait_seconds(text: str) -> float:
    """`?wait=` in seconds, at most 60; none is 0. Raises ApiError."""
    try:
        seconds = float(text or "0")
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ApiError("invalid_wait", "wait must be a number of seconds from 0 to 60.", field="wait")
    return min(seconds, MAX_SECONDS)
