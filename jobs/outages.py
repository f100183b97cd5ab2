"""Outages of the database while a job runs: its attempt doesn't count, and what only its process knows is stored later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError
from psycopg.errors import AdminShutdown, CannotConnectNow, DiskFull, IoError, TooManyConnections
from psycopg_pool import PoolTimeout

from tenancy.threads import in_db

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

# Conditions of the server that no job causes. A connection that broke isn't one: the job's own statement may have
# broken it, and would do so again.
OUTAGES = (DiskFull, IoError, TooManyConnections, AdminShutdown, CannotConnectNow, PoolTimeout)
UNAVAILABLE = "The database was unavailable, or its disk was full."
FIRST_DELAY_SECONDS = 0.5
MOST_DOUBLINGS = 4
PAUSE_SECONDS = 1.0


def is_outage(error: BaseException) -> bool:
    """True if the database could do the work of no job, so that the attempt says nothing about this one."""
    return isinstance(error.__cause__, OUTAGES)


def delay_seconds(*, claims: int) -> float:
    """The pause before a job that met an outage is claimed again: 0.5 s after the first claim, up to 8 s."""
    return FIRST_DELAY_SECONDS * 2.0 ** min(claims - 1, MOST_DOUBLINGS)


async def until_stored(write: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a write in a database thread, again and again until the database takes it.

    For facts that are lost with this process, such as the outcome of a request. The write has to refuse a repetition,
    since a connection may break after its commit. The caller's deadline ends the attempts.
    """
    is_told = False
    while True:
        try:
            return await in_db(write, *args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            if not is_told:
                log.warning("A result could not be stored (%s); trying until it is.", type(error.__cause__).__name__)
            is_told = True
            await asyncio.sleep(PAUSE_SECONDS)
