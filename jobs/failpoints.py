"""Failpoints for tests: `CRASH_AT=label:n` kills the process with SIGKILL the n-th time it passes `label`.

Labels mark the critical places: just before or after a commit, a send or a wakeup.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

_passed: Counter[str] = Counter()


def failpoint(label: str) -> None:
    """Kill the process if CRASH_AT names this label."""
    wanted, _, count = os.environ.get("CRASH_AT", "").partition(":")
    if label != wanted:
        return
    _passed[label] += 1
    if _passed[label] == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
