"""An outage of PostgreSQL, as the threads of a process know it.

A connection across a silent wire fails only after seconds. Once one has failed, one thread at a time tries to connect, and
the others fail at once. Otherwise each of them would wait in turn, and requests would wait for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError

# How long others wait for the result of an attempt, counted from its start. A server that is back answers sooner.
PATIENCE_SECONDS = 0.25


class Outage:
    """The state of one server. Thread-safe."""

    def __init__(self) -> None:
        self.is_on = False
        self._attempt = threading.Lock()
        self._attempted_at = 0.0

    def begin(self) -> None:
        """Note that the server does not answer."""
        self.is_on = True

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Connect inside. During an outage, only one thread may, and its success ends the outage.

        Raises OperationalError if another thread tries.
        """
        if not self.is_on:
            yield
            return
        self._wait_for_turn()
        try:
            self._attempted_at = time.monotonic()
            yield
            self.is_on = False
        finally:
            self._attempt.release()

    def _wait_for_turn(self) -> None:
        patience = self._attempted_at + PATIENCE_SECONDS - time.monotonic()
        if not self._attempt.acquire(timeout=max(0.0, patience)):
            raise OperationalError("PostgreSQL does not answer, and another thread is trying to connect.")


outage = Outage()
# A replica may be away while the primary answers.
replica_outage = Outage()
