"""Concurrent calls, each with its own connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from threading import Barrier
from typing import Any

from django.db import connections


def together(pool: Executor, deeds: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call all of them at once; return what each returned or raised, in order. The pool has room for all."""
    start = Barrier(len(deeds))

    def do(deed: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return deed()
        except Exception as error:  # what was refused is what is looked at
            return error
        finally:
            connections.close_all()

    return list(pool.map(do, deeds))
