"""Leaves an endpoint alone that keeps failing."""

from __future__ import annotations

import time
from collections.abc import Callable

from llm.errors import BreakerOpen

FAILURES_TO_OPEN = 5
OPEN_FOR_S = 10.0


class Breaker:
    """Opens after five failures in a row; ten seconds later one call may try, and its outcome closes or opens it again.

    Used from one event loop only. Each `refusal` of None is followed by one of the other three.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    def refusal(self) -> BreakerOpen | None:
        """Why no call may be made now, or None: then one may."""
        if self._opened_at is None:
            return None
        if self._is_probing or self._clock() - self._opened_at < OPEN_FOR_S:
            return BreakerOpen()
        self._is_probing = True
        return None

    def succeeded(self) -> None:
        self._failures = 0
        self._opened_at = None
        self._is_probing = False

    def failed(self) -> None:
        self._failures += 1
        if self._is_probing or self._failures >= FAILURES_TO_OPEN:
            self._opened_at = self._clock()
        self._is_probing = False

    def abandoned(self) -> None:
        """The call did not come to an end: it says nothing about the endpoint."""
        self._is_probing = False
