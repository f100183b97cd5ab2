"""Garbage collection settings for long-lived processes."""

from __future__ import annotations

import gc

# Collect rarely: reference counting frees what a turn allocates (`tests/api/test_reference_cycles.py` checks requests),
# and the time of a collection grows with the number of objects.
YOUNG, MIDDLE, OLD = 30_000, 10, 50


def settle() -> None:
    """Exclude all loaded objects from future collections: half a million that are never freed.

    Scanning them stopped a process for a tenth of a second, sometimes in the middle of a reply. In forked processes
    (`config.runner.forkserver`), it would also copy every shared page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
