"""Database work from the event loop: a few threads, each connection given back as soon as its work is done.

No connection is ever held while a model or a customer is waited for.
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


async def in_db(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function that uses the database in a thread, and give the connection back before returning."""
    call = partial(contextvars.copy_context().run, _give_back_after, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool, call)


def _give_back_after(function: Callable[[], R]) -> R:
    try:
        return function()
    finally:
        for connection in connections.all(initialized_only=True):
            connection.close()
