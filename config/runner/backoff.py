"""Backoff between restarts of a program."""

from __future__ import annotations

FIRST_S, LONGEST_S = 0.2, 10.0
# A program that ran this long had started successfully, so its death doesn't count as another failed start.
STEADY_S = 5.0


class Backoff:
    """0.2 seconds, doubled up to 10 while the program keeps dying soon after its start."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def after_death(self, *, lived_s: float) -> float:
        """Seconds to wait before the next start, given how long the program ran."""
        if lived_s >= STEADY_S:
            self._next_s = FIRST_S
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        return pause_s
