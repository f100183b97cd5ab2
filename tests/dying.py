"""A worker that dies in this process: nothing runs after the failpoint, and its job keeps its lease."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from jobs import failpoints


class Died(BaseException):
    """The worker died. No handler of the product catches it."""


@contextmanager
def dying(label: str) -> Iterator[list[str]]:
    """Let the worker die when it first passes a failpoint. The list has the label once that has happened.

    Database transactions are rolled back as after a SIGKILL, and connections to others are closed.
    """
    passed: list[str] = []

    def die(*_: int) -> None:
        passed.append(label)
        raise Died

    failpoints._passed.clear()
    system = SimpleNamespace(environ={**os.environ, "CRASH_AT": f"{label}:1"}, getpid=os.getpid, kill=die)
    with patch.object(failpoints, "os", system):
        try:
            yield passed
        except Died:
            return
