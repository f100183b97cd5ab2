"""The event loop of a worker process: claims jobs, runs them concurrently, renews leases and handles cancellations."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from uuid import UUID

import redis.asyncio as aioredis
from django.conf import settings
from django.db import Error as DatabaseError
from redis import RedisError

from jobs import claims, wakeups
from jobs.attempt import attempt
from jobs.claims import HeldJob
from jobs.lanes import ClaimedJob, Lane, lanes
from jobs.sweep import sweep
from tenancy.threads import in_db, in_ops

log = logging.getLogger(__name__)

STOP_SECONDS = 6
# The pause before a failed service restarts.
RESTART_SECONDS = 1.0
# The number of concurrent jobs per process, and the number of jobs of a lane per claim.
MAX_CONCURRENT = 256
CLAIM_LIMIT = 32


class Runner:
    """Runs the lanes of some queues until stopped. Only `wake` may be called from other threads."""

    def __init__(self, *, queues: frozenset[str]) -> None:
        self._lanes = {lane.name: lane for lane in lanes(queues=queues)}
        self._work = asyncio.Event()
        self._held: dict[UUID, HeldJob] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._services: list[asyncio.Task[None]] = []
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Start the services: claims, heartbeat, sweep and cancellations."""
        services = (self._claim_loop, self._heartbeat, self._sweep, self._listen)
        self._services = [self._loop.create_task(_forever(service)) for service in services]
        self._work.set()

    def wake(self, lane: str) -> bool:
        """Look for work soon. Thread-safe. Returns False if this process doesn't run the lane or is full."""
        if lane not in self._lanes or len(self._tasks) >= MAX_CONCURRENT:
            return False
        self._loop.call_soon_threadsafe(self._work.set)
        return True

    async def stop(self) -> None:
        """Stop claiming, let running jobs finish for a few seconds, and requeue the rest without counting the attempt."""
        for service in self._services:
            service.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=STOP_SECONDS)
        for job_id, held in list(self._held.items()):
            # Other jobs may end while one is requeued
            if (task := self._tasks.get(job_id)) is not None:
                task.cancel()
            await in_db(claims.requeue, held.job, error="", delay_seconds=0, forgive=True)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=1)

    async def _claim_loop(self) -> None:
        """Claim after each wakeup, until no work or no capacity is left."""
        while True:
            await self._work.wait()
            self._work.clear()
            try:
                await self._claim_all()
            except DatabaseError:
                self._loop.call_later(0.5, self._work.set)
                raise

    async def _claim_all(self) -> None:
        lanes_here = list(self._lanes.values())
        while len(self._tasks) < MAX_CONCURRENT:
            jobs = await in_ops(claims.claim, lanes_here, limit=CLAIM_LIMIT)
            for job in jobs:
                self._begin(job, self._lanes[job.lane])
            if len(jobs) < CLAIM_LIMIT:
                return

    def _begin(self, job: ClaimedJob, lane: Lane) -> None:
        # After an outage, the job may still run here with an expired lease
        self._cancel({job.id})
        self._held[job.id] = HeldJob(job=job, lease_seconds=lane.lease_seconds)
        task = self._tasks[job.id] = self._loop.create_task(attempt(job, lane), name=f"{lane.name} {job.id}")
        task.add_done_callback(lambda _: self._end(job))

    def _end(self, job: ClaimedJob) -> None:
        was_full = len(self._tasks) >= MAX_CONCURRENT
        held = self._held.get(job.id)
        # It may have been claimed again
        if held is not None and held.job is job:
            del self._held[job.id], self._tasks[job.id]
        if was_full:
            self._work.set()

    async def _heartbeat(self) -> None:
        shortest = min((lane.lease_seconds for lane in self._lanes.values()), default=30.0)
        while True:
            await asyncio.sleep(shortest / 3)
            if held := list(self._held.values()):
                self._cancel(await in_db(claims.heartbeat, held))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(settings.SWEEP_SECONDS)
            for lane in await in_db(sweep):
                self.wake(lane)

    async def _listen(self) -> None:
        """Cancel superseded jobs when Redis announces them."""
        client = aioredis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, health_check_interval=10)
        async with client, client.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(wakeups.CANCELLATIONS)
            async for message in channel.listen():
                self._cancel({UUID(job_id) for job_id in json.loads(message["data"])})

    def _cancel(self, job_ids: set[UUID]) -> None:
        for job_id in job_ids & self._tasks.keys():
            self._tasks[job_id].cancel()


async def _forever(service: Callable[[], Awaitable[None]]) -> None:
    """Run a service, and restart it after an outage of PostgreSQL or Redis or a bug of its own."""
    name = service.__name__.strip("_")
    while True:
        try:
            await service()
        except (DatabaseError, RedisError, OSError) as error:
            log.warning("%s failed (%s); restarting in a second.", name, type(error).__name__)
        except Exception:  # the process's boundary: one error must not stop claims or sweeps for good
            log.exception("%s failed; restarting in a second.", name)
        await asyncio.sleep(RESTART_SECONDS)
