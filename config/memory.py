"""What a long-lived process does about memory once everything is loaded."""

from __future__ import annotations

import gc

# Young objects are looked at seldom: what a turn makes is freed by counting (`tests/api/test_reference_cycles.py` holds requests to it), and
# looking through what is in use stops a worker for longer the more it has to do.
YOUNG, MIDDLE, OLD = 30_000, 10, 50


def settle() -> None:
    """Leave all that was loaded out of every later collection: half a million objects that never go away.

    Looking through them stopped a process for a tenth of a second, now and then, in the middle of somebody's reply. Where
    processes were forked (`config.runner.forkserver`), it would also give each of them a copy of every page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
