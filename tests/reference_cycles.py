"""Finds reference cycles: objects that only a garbage collection would free."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reference_cycles() -> Iterator[Counter[str]]:
    """Count the objects that the block leaves behind in cycles, by type. The counter is filled when the block ends."""
    left: Counter[str] = Counter()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield left
        gc.collect()
        left.update(type(one).__qualname__ for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
