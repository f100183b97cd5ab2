"""Ends servers that a killed supervisor left running. Two servers on the same files would corrupt them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from config.runner.errors import StartError


def end_orphan(*, pid_file: Path, directory: Path, stop_signal: signal.Signals) -> bool:
    """End the server named in `pid_file` if it still runs in `directory`, and remove the file.

    Returns True if one was ended.

    The caller holds the data directory's lock, so a running server must be an orphan. A reused process id is recognized
    by its working directory and left alone. Without /proc, nothing is ended, and the server's own check applies.
    """
    try:
        pid = int(pid_file.read_text().split()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return False
    if not Path("/proc/self").exists():
        return False
    ended = _runs_in(pid, directory)
    if ended:
        _end(pid, directory, stop_signal)
    pid_file.unlink(missing_ok=True)
    return ended


def _runs_in(pid: int, directory: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").samefile(directory)
    except OSError:
        return False


def _end(pid: int, directory: Path, stop_signal: signal.Signals) -> None:
    for number, patience_s in ((stop_signal, 15.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        give_up_at = time.monotonic() + patience_s
        while time.monotonic() < give_up_at:
            if not _runs_in(pid, directory):
                return
            time.sleep(0.05)
    raise StartError(f"Process {pid} still uses {directory} and can't be ended: end it and start again.")
