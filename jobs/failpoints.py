"""Crash points: `CRASH_AT=label:n` kills the process with SIGKILL the n-th time it passes `label`.

Only tests set it. A label is where a crash would hurt most: just before or after a commit, a send, a wake.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

_passed: Counter[str] = Counter()


def failpoint(label: str) -> None:
    """Die here when the environment says so."""
    wanted, _, count = os.environ.get("CRASH_AT", "").partition(":")
    if label != wanted:
        return
    _passed[label] += 1
    if _passed[label] == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
