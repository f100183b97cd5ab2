"""The event loop of a worker process: claims jobs, runs them concurrently, renews leases and handles cancellations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from celery.signals import celeryd_after_setup, worker_shutting_down
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from redis import RedisError

from jobs import claims, wakeups
from jobs.claims import HeldJob
from jobs.errors import GiveUp, TryLater
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob, Lane, lane_of, lanes
from jobs.model_client import close_model_client, model_client
from jobs.outages import UNAVAILABLE, delay_seconds, is_outage, until_stored
from jobs.pace import LoopWatch, Pace
from jobs.services import fail_job
from jobs.slots import OwnModels, Slots
from jobs.sweep import sweep
from llm.errors import LlmError
from llm.loop import ModelLoop
from outbound.errors import OutboundError
from outbound.tenant import on_behalf_of
from projects.common.api_error import ApiError
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

    def start(self) -> None:
        """Start the services: claims, heartbeat, sweep and cancellations."""
        services = (self._claim_loop, self._heartbeat, self._sweep, self._listen)
        self._services = [self._loop.create_task(_forever(service)) for service in services]
        self._work.set()

    def wake(self, lane: str) -> bool:
        """Look for work soon. Thread-safe. Returns False if this process doesn't run the lane or is full."""
        if lane not in self._lanes or not self._slots_of(lane).has_room:
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


FIRST_DELAY_SECONDS = 0.5
BROKE_OFF = "The connection to the database was lost."
FAULT = "An internal error occurred, not caused by your settings. See the server's log."
# Errors whose messages are written for staff. Any other message comes from a library and goes to the log only
OWN_ERRORS = (LlmError, OutboundError, ApiError)


async def attempt(job: ClaimedJob, lane: Lane) -> None:
    """Run the lane's handler.

    The handler finishes the job in the transaction of its result. Every other outcome is handled here.
    """
    failpoint("turn.claimed" if job.lane == "reply" else "lane.claimed")
    with on_behalf_of(job.organization_id):
        await _attempt(job, lane)


async def _attempt(job: ClaimedJob, lane: Lane) -> None:
    try:
        async with asyncio.timeout(lane.deadline.total_seconds()):
            await lane.handler(job)
    except asyncio.CancelledError:
        log.info("%s %s was cancelled.", job.lane, job.id)
    except LeaseLost:
        log.info("%s %s now belongs to another worker; nothing was written.", job.lane, job.id)
    except GiveUp as error:
        await _record_failure(job, reason=str(error), final=True)
    except TryLater as error:
        await _put_off(job, error)
    except Exception as error:  # the worker's boundary: a bug in a handler becomes a failure that staff can see
        if is_outage(error):
            log.warning("%s %s is put off: %s", job.lane, job.id, error)
            await _put_off(job, TryLater(UNAVAILABLE, delay_seconds=delay_seconds(claims=job.token)))
            return
        log.exception("%s %s failed, attempt %d of %d.", job.lane, job.id, job.attempt, job.max_attempts)
        await _record_failure(job, reason=_reason(error), final=job.is_last_attempt)


async def _put_off(job: ClaimedJob, error: TryLater) -> None:
    """Queue the job again, as soon as the database takes it: an expired lease would count as an attempt."""
    try:
        await until_stored(claims.requeue, job, error=str(error), delay_seconds=error.delay_seconds, forgive=True)
    except DatabaseError as failure:
        log.warning("%s %s could not be put off (%s).", job.lane, job.id, type(failure).__name__)


async def _record_failure(job: ClaimedJob, *, reason: str, final: bool) -> None:
    """Fail the job or requeue it, as soon as the database takes it. After another error, the sweep does it."""
    try:
        if final:
            await until_stored(fail_job, job, reason=reason)
        else:
            delay = FIRST_DELAY_SECONDS * 2 ** (job.attempt - 1)
            await until_stored(claims.requeue, job, error=reason, delay_seconds=delay)
    except LeaseLost:
        log.info("%s %s ended elsewhere in the meantime.", job.lane, job.id)
    except DatabaseError as error:
        log.warning("The failure of %s %s could not be stored (%s).", job.lane, job.id, type(error).__name__)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "The attempt exceeded its deadline."
    if isinstance(error, OperationalError | InterfaceError):
        return BROKE_OFF
    return str(error) if isinstance(error, OWN_ERRORS) else FAULT


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


async def _started(queues: frozenset[str]) -> Runner:
    # Loading certificates takes time, so create the client before the first customer waits.
    model_client()
    runner = Runner(queues=queues)
    asyncio.get_running_loop().call_soon(runner.start)
    return runner


async def _stopped(runner: Runner) -> None:
    await runner.stop()
    await close_model_client()
