"""Processes started by a command of the documentation, as an administrator would."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def running(command: str, *, log: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=ROOT,
            env={**os.environ, **env},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def get(port: int, path: str, **headers: str) -> int:
    """The status of a response, or 0 while nothing listens."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        try:
            connection.request("GET", path, headers=headers)
        except ConnectionRefusedError:
            return 0
        return connection.getresponse().status
