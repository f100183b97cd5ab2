"""Database work from the event loop: a few threads, each with a connection that serves one piece of work after the other.

There are as many connections as threads, however many jobs wait for a model or a customer: none is ever held meanwhile.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")

# Taking a connection from the pool and giving it back costs as much as two statements.
KEPT = "default"

_pool = ThreadPoolExecutor(max_workers=settings.DB_THREADS, thread_name_prefix="db")


async def in_db(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function that uses the database in one of the threads. It leaves no transaction open."""
    call = partial(contextvars.copy_context().run, _in_thread, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool, call)


def _in_thread(function: Callable[[], R]) -> R:
    """Keep the thread's own connection for what comes next, unless something went wrong on it; give back any other."""
    is_fine = False
    try:
        result = function()
        is_fine = not connections[KEPT].errors_occurred
        return result
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.alias != KEPT or not is_fine:
                connection.close()
