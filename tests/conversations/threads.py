"""A worker's steps run by hand in threads, and the PostgreSQL locks they wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from uuid import UUID

from django.db import OperationalError, connection, connections, transaction

from conversations.live import tokens
from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import ClaimedJob, lane_of
from jobs.model_client import close_model_client
from tests.processes import until


def claimed(lane: str) -> ClaimedJob:
    """The lane's only job, claimed like a worker does."""
    [job] = claims.claim([lane_of(lane)], limit=1)
    return job


def run(job: ClaimedJob) -> None:
    """Run the job like a worker does."""

    async def once() -> None:
        await attempt(job, lane_of(job.lane))
        await close_model_client()
        # A worker keeps this connection for as long as its loop.
        await tokens._redis().aclose()

    asyncio.run(once())


def in_thread(pool: ThreadPoolExecutor, work: Callable[[], object]) -> Future[object]:
    """Start some work with its own connections."""

    def begin() -> object:
        try:
            return work()
        finally:
            connections.close_all()

    return pool.submit(begin)


def until_waiting(count: int = 1) -> None:
    """Wait until `count` transactions wait for a lock. The polling keeps the test's own transaction from going idle and
    being ended.
    """

    def waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("select count(distinct pid) from pg_locks where not granted")
            return bool(cursor.fetchone()[0] == count)

    until(waiting, what=f"{count} waiting for a lock")


def is_locked(job_id: UUID) -> bool:
    """True if another transaction holds the job."""
    try:
        with transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
            cursor.execute("select 1 from jobs_job where id = %s for update nowait", [job_id])
    except OperationalError:
        return True
    return False
