"""A program to run: what to start, as whom, and how to end it."""

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
    """One long-running command. Its group ends by `stop_signal`, and by SIGKILL after `stop_seconds`."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: Path | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 8.0
    # What the kernel sends when the process that started it dies without a word (kill -9).
    orphan_signal: signal.Signals = signal.SIGKILL
    # The socket of the fork server that makes the process, where one runs; else it is started by its command.
    fork_server: Path | None = None
    # By how much it lets others go before it where processors are short: 0 not at all, 19 always.
    niceness: int = 0
    # A pattern of the output that isn't worth a person's time: what it matches is cut, a line left empty is dropped.
    noise: str = ""

    def argv(self) -> list[str]:
        """The command line, which asks the kernel for the orphan signal where it can be asked."""
        command = ["nice", "-n", str(self.niceness), *self.command] if self.niceness else list(self.command)
        if not _setpriv():
            return command
        return [_setpriv(), "--pdeathsig", self.orphan_signal.name.removeprefix("SIG"), "--", *command]

    def tidy(self, line: str) -> str | None:
        """The line without its noise; None when nothing is left."""
        rest = re.sub(self.noise, "", line) if self.noise else line
        return rest if rest.strip() else None

    def popen_options(self) -> dict[str, Any]:
        """Keywords for Popen and its asyncio twin: a session of its own, no stdin, the right account."""
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
    """util-linux's setpriv, or "" where there is none that knows --pdeathsig."""
    path = shutil.which("setpriv") or ""
    trial = [path, "--pdeathsig", "KILL", "--", "true"]
    return path if path and subprocess.run(trial, capture_output=True, check=False).returncode == 0 else ""
