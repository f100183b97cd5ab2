"""The data directory: created at first use, and locked by one running copy of Makegood at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.runner.errors import StartError

# Exists in a data directory while a backup is restored into it.
RESTORING = "restoring"
# Files of the installer and the lock, in a directory that holds nothing else yet.
HARMLESS = {"install.log", "lock"}


class DataDirInUse(StartError):
    """Another copy holds the lock of the data directory."""


@contextmanager
def hold_data_dir(path: Path) -> Iterator[Path]:
    """Create `path` and lock it until the block or the process ends. Raises StartError if another copy holds the lock."""
    data_dir = _make(path)
    with open(data_dir / "lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataDirInUse(
                f"Another copy of Makegood runs on {data_dir}: stop it, or set MAKEGOOD_DATA to another directory."
            ) from None
        yield data_dir


def is_empty(path: Path) -> bool:
    """True if the data directory holds nothing yet."""
    return not path.exists() or not {entry.name for entry in path.iterdir()} - HARMLESS


def require_complete(data_dir: Path) -> None:
    """Raises StartError if a restore into the data directory didn't end."""
    if (data_dir / RESTORING).exists():
        raise StartError(f"The restore into {data_dir} didn't end: run bin/restore again, or empty the directory.")


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
