"""Names of the processes whose figures are read from files, with a lock that proves that each is alive.

The kernel releases the lock when the process ends, however it ends. A restarted process takes the name of its
predecessor, so that names don't multiply. The files of a dead process are deleted.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

LOCK = ".lock"
FIGURES = ".db"
ATTEMPTS, PAUSE_SECONDS = 10, 0.01


@dataclass(frozen=True)
class Slot:
    """A process's name in a directory, such as `web-0`. `descriptor` holds the lock."""

    directory: Path
    name: str
    descriptor: int

    def release(self) -> None:
        """Delete the figures and give the name back."""
        _delete_figures(self.directory, self.name)
        os.close(self.descriptor)


def take_slot(directory: Path, role: str) -> Slot:
    """Take the first free name of a role. Raises OSError if the directory can't be used."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (f"{role}-{number}" for number in count()):
        descriptor = os.open(directory / f"{name}{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _lock_patiently(descriptor):
            _delete_figures(directory, name)
            return Slot(directory, name, descriptor)
        os.close(descriptor)
    raise AssertionError("count() never ends")


def live_slots(directory: Path) -> list[str]:
    """The names of the processes that run, in order. Deletes the figures of those that don't."""
    return [name for name in _names(directory) if _is_alive(directory, name)]


def figures_of(directory: Path, name: str) -> list[Path]:
    """The files of a process."""
    return list(directory.glob(f"*_{name}{FIGURES}"))


def _names(directory: Path) -> Iterator[str]:
    return (path.stem for path in sorted(directory.glob(f"*{LOCK}")))


def _is_alive(directory: Path, name: str) -> bool:
    try:
        descriptor = os.open(directory / f"{name}{LOCK}", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two readers don't take each other for the process.
        if not _lock(descriptor, fcntl.LOCK_SH):
            return True
        _delete_figures(directory, name)
        return False
    finally:
        os.close(descriptor)


def _lock_patiently(descriptor: int) -> bool:
    """Take the lock, even if a reader holds it for a moment to see whether the process lives."""
    for _ in range(ATTEMPTS):
        if _lock(descriptor, fcntl.LOCK_EX):
            return True
        time.sleep(PAUSE_SECONDS)
    return False


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _delete_figures(directory: Path, name: str) -> None:
    for path in figures_of(directory, name):
        path.unlink(missing_ok=True)
