"""Database access from the event loop: a few threads, each with a connection that it keeps between calls.

A tenant with much work leaves threads for the others.

There are as many connections as threads. A job that waits for a model or a customer holds none.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.utils.translation import get_language, override

from outbound.fair_threads import FairThreads, Waits
from outbound.tenant import current_tenant

P = ParamSpec("P")
R = TypeVar("R")

_pool = FairThreads(settings.DB_THREADS, name="db")
_ops = FairThreads(1, name="claims")


async def in_db(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function that uses the database in one of the threads. It must not leave a transaction open."""
    return await _run_in(_pool, "default", partial(function, *args, **kwargs))


def crowded_tenants() -> frozenset[UUID]:
    """The tenants whose work waits for the threads, so that more of it would only wait as well."""
    return _pool.crowded(max(1, settings.DB_THREADS // 4))


def thread_waits() -> dict[str, Waits]:
    """The waits for the threads so far, by the name of the threads."""
    return {"db": _pool.waits, "claims": _ops.waits}


async def in_ops(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function that uses the role mg_ops. Calls run one at a time, in a thread of their own."""
    return await _run_in(_ops, "ops", partial(function, *args, **kwargs))


async def _run_in(pool: FairThreads, alias: str, function: Callable[[], R]) -> R:
    language = get_language()
    if language != settings.LANGUAGE_CODE:
        # A thread doesn't inherit the language of the task.
        function = partial(_in_language, language, function)
    call = partial(contextvars.copy_context().run, _in_thread, alias, function)
    return await asyncio.wrap_future(pool.submit(current_tenant(), call))


def _in_language(language: str | None, function: Callable[[], R]) -> R:
    with override(language):
        return function()


def _in_thread(alias: str, function: Callable[[], R]) -> R:
    """Run the function, and keep the thread's own connection open unless it failed. Close all others.

    Taking a connection from the pool and returning it costs as much as two statements.
    """
    succeeded = False
    try:
        result = function()
        succeeded = not connections[alias].errors_occurred
        return result
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.alias != alias or not succeeded:
                connection.close()
