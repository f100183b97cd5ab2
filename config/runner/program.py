"""The description of a program: its command, account, and signals."""

from __future__ import annotations

import functools
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.runner.account import Account


@dataclass(frozen=True)
class Program:
    """A long-running command. Its process group ends with `stop_signal`, and with SIGKILL after `stop_seconds`."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: Path | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 8.0
    # The signal that the kernel sends if the parent is killed.
    orphan_signal: signal.Signals = signal.SIGKILL
    # The socket of the fork server that creates the process, or None to start the command.
    fork_server: Path | None = None
    # The nice value of the process: 0 for normal priority, 19 for the lowest.
    niceness: int = 0
    # A pattern of output to omit. Matches are removed, and a line that becomes empty is dropped.
    noise: str = ""

    def argv(self) -> list[str]:
        """The command line, with a request for the orphan signal where the system supports it."""
        command = ["nice", "-n", str(self.niceness), *self.command] if self.niceness else list(self.command)
        if not _setpriv():
            return command
        return [_setpriv(), "--pdeathsig", self.orphan_signal.name.removeprefix("SIG"), "--", *command]

    def tidy(self, line: str) -> str | None:
        """The line without its noise, or None if nothing is left."""
        rest = re.sub(self.noise, "", line) if self.noise else line
        return rest if rest.strip() else None

    def popen_options(self) -> dict[str, Any]:
        """Arguments for Popen and for asyncio's equivalent: a session of its own, no stdin, the account."""
        return {
            "stdin": subprocess.DEVNULL,
            "stderr": subprocess.STDOUT,
            "start_new_session": True,
            "env": self.env,
            "cwd": self.cwd,
            **(self.account.popen_options() if self.account else {}),
        }


@functools.cache
def _setpriv() -> str:
    """The path of util-linux's setpriv, or "" if it is missing or doesn't support --pdeathsig."""
    path = shutil.which("setpriv") or ""
    trial = [path, "--pdeathsig", "KILL", "--", "true"]
    return path if path and subprocess.run(trial, capture_output=True, check=False).returncode == 0 else ""
