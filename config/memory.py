"""What a long-lived process does about memory once everything is loaded."""

from __future__ import annotations

import gc

# Young objects are looked at less often: what a turn makes is freed by counting, and hardly ever by looking.
YOUNG, MIDDLE, OLD = 10_000, 20, 50


def settle() -> None:
    """Leave all that was loaded out of every later collection: half a million objects that never go away.

    Looking through them stopped a process for a tenth of a second, now and then, in the middle of somebody's reply. Where
    processes were forked (`config.runner.forkserver`), it would also give each of them a copy of every page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
