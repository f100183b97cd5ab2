"""Outages of the database or of a model while a job runs: its attempt doesn't count.

What only its process knows is stored as soon as the database is back.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import timedelta
from typing import ParamSpec, TypeVar

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from psycopg.errors import AdminShutdown, CannotConnectNow, DiskFull, IoError, TooManyConnections
from psycopg_pool import PoolTimeout

from jobs.fence import LeaseLost, age_of
from jobs.lanes import ClaimedJob
from llm.errors import LlmError
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
# The time that a job waits for a model endpoint that is out, before its attempts count.
MODEL_PATIENCE = timedelta(minutes=15)
LONGEST_MODEL_DELAY_SECONDS = 30.0


def is_outage(error: BaseException) -> bool:
    """True if the database could do the work of no job, so that the attempt says nothing about this one."""
    return isinstance(error.__cause__, OUTAGES)


def delay_seconds(*, claims: int) -> float:
    """The pause before a job that met an outage is claimed again: 0.5 s after the first claim, up to 8 s."""
    return FIRST_DELAY_SECONDS * 2.0 ** min(claims - 1, MOST_DOUBLINGS)


async def delay_for_model(job: ClaimedJob, error: BaseException) -> float | None:
    """The pause before a job asks a model again that answers nobody. None if the attempt counts.

    A promise of the agent is often found by such a job, so an outage of minutes must not leave it to a person.
    """
    if not isinstance(error, LlmError) or not error.outage:
        return None
    try:
        if await in_db(age_of, job) > MODEL_PATIENCE:
            return None
    except (LeaseLost, DatabaseError):
        pass  # whoever puts the job off finds out
    doubled = FIRST_DELAY_SECONDS * 2.0 ** min(job.token - 1, 10)
    delay = min(doubled, LONGEST_MODEL_DELAY_SECONDS) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
    return max(delay, error.retry_after_s or 0.0)


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
