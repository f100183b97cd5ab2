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

_pool = ThreadPoolExecutor(max_workers=settings.DB_THREADS, thread_name_prefix="db")
_ops = ThreadPoolExecutor(max_workers=1, thread_name_prefix="claims")


async def in_db(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function that uses the database in one of the threads. It leaves no transaction open."""
    return await _run_in(_pool, "default", partial(function, *args, **kwargs))


async def in_ops(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same, for what is done again and again through the role mg_ops: one after the other, in a thread of its own."""
    return await _run_in(_ops, "ops", partial(function, *args, **kwargs))


async def _run_in(pool: ThreadPoolExecutor, kept: str, function: Callable[[], R]) -> R:
    call = partial(contextvars.copy_context().run, _in_thread, kept, function)
    return await asyncio.get_running_loop().run_in_executor(pool, call)


def _in_thread(kept: str, function: Callable[[], R]) -> R:
    """Keep the thread's own connection for what comes next, unless something went wrong on it; give back any other.

    Taking one from the pool and giving it back costs as much as two statements.
    """
    is_fine = False
    try:
        result = function()
        is_fine = not connections[kept].errors_occurred
        return result
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.alias != kept or not is_fine:
                connection.close()
