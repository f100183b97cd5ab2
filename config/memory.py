"""What a long-lived process does about memory once everything is loaded."""

from __future__ import annotations

import gc

# Young objects are collected rarely: reference counting frees what a turn allocates (`tests/api/test_reference_cycles.py`
# checks requests), and each collection stops a worker for longer the more it has in use.
YOUNG, MIDDLE, OLD = 30_000, 10, 50


def settle() -> None:
    """Leave all that was loaded out of every later collection: half a million objects that never go away.

    Looking through them stopped a process for a tenth of a second, now and then, in the middle of somebody's reply. Where
    processes were forked (`config.runner.forkserver`), it would also give each of them a copy of every page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
