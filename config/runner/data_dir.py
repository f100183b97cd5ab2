"""The data directory: created at first use, and locked by one running copy of Makegood at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.runner.errors import StartError


@contextmanager
def hold_data_dir(path: Path) -> Iterator[Path]:
    """Create `path` and lock it until the block or the process ends. Raises StartError if another copy holds the lock."""
    data_dir = _make(path)
    with open(data_dir / "lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(
                f"Another copy of Makegood runs on {data_dir}: stop it, or set MAKEGOOD_DATA to another directory."
            ) from None
        yield data_dir


def _make(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
        data_dir = path.resolve()
        # Private files have modes of their own. PostgreSQL's account must be able to pass through the directory.
        if not any(data_dir.iterdir()):
            data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except OSError as error:
        raise StartError(
            f"The data directory {path} can't be used ({error.strerror}): set MAKEGOOD_DATA to another directory."
        ) from error
    return data_dir
