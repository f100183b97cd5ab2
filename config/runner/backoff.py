"""How long to wait before a dead program is started again."""

from __future__ import annotations

FIRST_S, LONGEST_S = 0.2, 10.0
# A program that lived this long had started well: its death is news, not a loop.
STEADY_S = 5.0


class Backoff:
    """0.2 s, doubling to 10 s while the program keeps dying young."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def after_death(self, *, lived_s: float) -> float:
        """Seconds to wait, given how long it lived."""
        if lived_s >= STEADY_S:
            self._next_s = FIRST_S
        pause_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        return pause_s
