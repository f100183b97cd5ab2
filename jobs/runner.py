"""The event loop of a worker process: claims jobs, runs them concurrently, renews leases and handles cancellations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID

from celery.signals import celeryd_after_setup, worker_shutting_down
from django.conf import settings
from django.db import Error as DatabaseError
from redis import RedisError

from jobs import claims, wakeups
from jobs.alive import touch_alive_file
from jobs.attempt import attempt
from jobs.claims import HeldJob
from jobs.lanes import ClaimedJob, Lane, lane_of, lanes
from jobs.model_client import close_model_client, model_client
from jobs.pace import LoopWatch, Pace
from jobs.slots import OwnModels, Slots
from jobs.standing import Service, services_of
from jobs.sweep import sweep
from llm.loop import ModelLoop
from telemetry.sampling import watch_loop
from tenancy.threads import crowded_tenants, in_db, in_ops

log = logging.getLogger(__name__)

STOP_SECONDS = 6
# The pause before a failed service restarts.
RESTART_SECONDS = 1.0
# The number of jobs of a lane per claim.
CLAIM_LIMIT = 32
LOOK_AGAIN_SECONDS = 0.02


class Runner:
    """Runs the lanes of some queues until stopped. Only `wake` may be called from other threads."""

    def __init__(self, *, queues: frozenset[str]) -> None:
        self._lanes = {lane.name: lane for lane in lanes(queues=queues)}
        self._own_models = OwnModels()
        self._slots: dict[str, Slots] = {}
        self._pace = Pace(most=sum(lane.slots for lane in self._lanes.values()))
        self._looks_again = False
        self._work = asyncio.Event()
        self._held: dict[UUID, HeldJob] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._services: list[asyncio.Task[None]] = []
        self._loop = asyncio.get_running_loop()
        self._watch = LoopWatch(self._pace, crowded=crowded_tenants, on_room=self._work.set)

    @property
    def queues(self) -> list[str]:
        """The queues of the lanes, in order."""
        return sorted({lane.queue.value for lane in self._lanes.values()})

    @property
    def running(self) -> int:
        """The number of jobs that run now."""
        return len(self._held)

    def start(self) -> None:
        """Start the services: claims, heartbeat, sweep, cancellations, and those of higher rooms."""
        services = (
            *(self._claim_loop, self._heartbeat, self._sweep, self._listen),
            *(touch_alive_file, watch_loop),
            *services_of(self.queues),
        )
        self._services = [self._loop.create_task(_forever(service)) for service in services]
        self._work.set()

    def wake(self, lane: str) -> bool:
        """Look for work soon. Thread-safe. Returns False if this process doesn't run the lane or is full."""
        if lane not in self._lanes or not self._slots_of(lane).has_room:
            return False
        self._loop.call_soon_threadsafe(self._work.set)
        return True

    async def stop(self) -> None:
        """Stop claiming, let running jobs finish for a few seconds, and requeue the rest without counting the attempt.

        Jobs that last as long as a connection are requeued at once, so that another worker holds it soon.
        """
        for service in self._services:
            service.cancel()
        await self._requeue([held for held in self._held.values() if lane_of(held.job.lane).is_handed_on])
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=STOP_SECONDS)
        await self._requeue(list(self._held.values()))

    async def _requeue(self, jobs: Sequence[HeldJob]) -> None:
        stopped = []
        for held in jobs:
            # Other jobs may end while one is requeued
            if (task := self._tasks.get(held.job.id)) is not None:
                task.cancel()
                stopped.append(task)
            await in_db(claims.requeue, held.job, error="", delay_seconds=0, forgive=True)
        if stopped:
            await asyncio.wait(stopped, timeout=1)

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
        while roomy := [lane for name, lane in self._lanes.items() if self._slots_of(name).has_room]:
            crowded = crowded_tenants()
            if crowded:
                self._look_again()
            busy = crowded | self._pace.full_tenants()
            waiting = {lane.name: self._slots_of(lane.name).held_back() | busy for lane in roomy}
            held_back = waiting if any(waiting.values()) else {}
            free = min(self._slots_of(lane.name).most_to_claim for lane in roomy)
            limit = min(CLAIM_LIMIT, self._pace.most_to_claim, free)
            jobs = await in_ops(self._claim, roomy, limit, held_back)
            for job in jobs:
                self._begin(job, self._lanes[job.lane])
            if len(jobs) < limit:
                return

    def _slots_of(self, lane: str) -> Slots:
        if lane not in self._slots:
            self._slots[lane] = Slots(lane_of(lane), self._own_models)
        return self._slots[lane]

    def _claim(self, wanted: Sequence[Lane], limit: int, held_back: Mapping[str, frozenset[UUID]]) -> list[ClaimedJob]:
        jobs = claims.claim(wanted, limit=limit, held_back=held_back)
        self._own_models.read({job.organization_id for job in jobs})
        return jobs

    def _begin(self, job: ClaimedJob, lane: Lane) -> None:
        # After an outage, the job may still run here with an expired lease
        self._cancel({job.id})
        self._slots_of(lane.name).take(job)
        self._pace.take(job)
        self._watch.begin()
        self._held[job.id] = HeldJob(job=job, lease_seconds=lane.lease_seconds)
        task = self._tasks[job.id] = self._loop.create_task(attempt(job, lane), name=f"{lane.name} {job.id}")
        task.add_done_callback(lambda _: self._end(job))

    def _end(self, job: ClaimedJob) -> None:
        held = self._held.get(job.id)
        # It may have been claimed again
        if held is None or held.job is not job:
            return
        del self._held[job.id], self._tasks[job.id]
        slots = self._slots_of(job.lane)
        if slots.is_short or self._pace.full_tenants():
            self._look_again()
        slots.give_back(job)
        self._pace.give_back(job)

    def _look_again(self) -> None:
        """Look for work that had to wait, once for all jobs that end within a moment."""
        if not self._looks_again:
            self._looks_again = True
            self._loop.call_later(LOOK_AGAIN_SECONDS, self._look)

    def _look(self) -> None:
        self._looks_again = False
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
        async for job_ids in wakeups.cancellations():
            self._cancel(job_ids)

    def _cancel(self, job_ids: set[UUID]) -> None:
        for job_id in job_ids & self._tasks.keys():
            self._tasks[job_id].cancel()


async def _forever(service: Service) -> None:
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


_loop = ModelLoop()
_runner: Runner | None = None


@celeryd_after_setup.connect
def start(instance: Any, **_: Any) -> None:
    """Start the runner for the queues that this worker consumes, before it connects to Redis: it works without."""
    global _runner
    queues = frozenset(instance.app.amqp.queues.consume_from)
    _runner = _loop.submit(_started(queues)).result(timeout=10)
    wakeups.local_wake = _runner.wake


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """Finish or requeue running jobs before Celery exits."""
    if _runner is not None:
        wakeups.local_wake = None
        _loop.submit(_stopped(_runner)).result(timeout=20)


def wake(lane: str) -> None:
    """Look for work in this lane."""
    if _runner is not None:
        _runner.wake(lane)


def ping() -> Future[None]:
    """A future that ends when the event loop has turned once more."""
    return _loop.submit(asyncio.sleep(0))


def queues() -> list[str]:
    """The queues of this worker's lanes."""
    return _runner.queues if _runner is not None else []


def count_jobs() -> int:
    """The number of jobs that this worker runs now."""
    return _runner.running if _runner is not None else 0


async def _started(queues: frozenset[str]) -> Runner:
    # Loading certificates takes time, so create the client before the first customer waits.
    model_client()
    runner = Runner(queues=queues)
    asyncio.get_running_loop().call_soon(runner.start)
    return runner


async def _stopped(runner: Runner) -> None:
    await runner.stop()
    await close_model_client()
