"""Failures that a worker survives, and the messages that staff read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from jobs import lanes, runner, sweep
from jobs.attempt import BROKE_OFF, FAULT, attempt
from jobs.errors import GiveUp, TryLater
from jobs.lanes import ClaimedJob, Lane
from jobs.models import Job, State
from jobs.runner import Runner, _forever
from llm.errors import BadAnswer
from outbound.tenant import current_tenant
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.jobs.conftest import add, take


def test_the_sweep_continues_after_a_bug(database: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.SWEEP_SECONDS = 0.01
    monkeypatch.setattr(runner, "RESTART_SECONDS", 0.01)
    swept = []

    def hook() -> None:
        swept.append(True)
        if len(swept) == 1:
            raise KeyError("a bug that nobody foresaw")

    monkeypatch.setattr(sweep.sweeping, "_receivers", [hook])

    async def until_swept_again() -> None:
        service = asyncio.create_task(_forever(Runner(queues=frozenset())._sweep))
        async with asyncio.timeout(60):
            while len(swept) < 2 and not service.done():
                await asyncio.sleep(0.01)
        assert not service.done(), service.exception()
        service.cancel()

    asyncio.run(until_swept_again())
    assert len(swept) >= 2


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_job_reclaimed_by_the_same_worker_replaces_its_older_run(tenant: Tenant, queue_lane: Lane) -> None:
    """After an outage, the lease has expired, and the same worker may claim the job again."""
    begun: list[int] = []

    async def waits(job: ClaimedJob) -> None:
        begun.append(job.token)
        await asyncio.Event().wait()

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    again = replace(job, token=job.token + 1)

    async def claimed_twice() -> None:
        runner, lane = Runner(queues=frozenset()), replace(queue_lane, handler=waits)
        runner._begin(job, lane)
        older = runner._tasks[job.id]
        await _until(lambda: begun == [job.token])
        runner._begin(again, lane)
        await _until(lambda: older.done() and begun == [job.token, again.token])
        assert [held.job for held in runner._held.values()] == [again]
        runner._cancel({job.id})
        await _until(lambda: not runner._tasks)
        assert not runner._held

    asyncio.run(claimed_twice())


def test_a_job_that_ends_while_the_worker_stops_does_not_affect_the_others(
    tenant: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "STOP_SECONDS", 0.01)
    released = asyncio.Event()

    async def waits(job: ClaimedJob) -> None:
        await released.wait()

    for _ in range(3):
        add(tenant, queue_lane)
    jobs = take(queue_lane, 3)
    give_back = runner.in_db

    async def meanwhile_another_ends(*args: Any, **given: Any) -> Any:
        released.set()
        return await give_back(*args, **given)

    monkeypatch.setattr(runner, "in_db", meanwhile_another_ends)

    async def stopped() -> None:
        stopping = Runner(queues=frozenset())
        for job in jobs:
            stopping._begin(job, replace(queue_lane, handler=waits))
        await stopping.stop()

    asyncio.run(stopped())
    with tenant.tx():
        assert list(Job.objects.values_list("state", "attempts")) == [(State.QUEUED, 0)] * 3


def test_a_worker_that_stops_hands_connections_on_at_once(
    tenant: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits only for work that may end by itself."""
    monkeypatch.setattr(runner, "STOP_SECONDS", 60)

    async def lasts(job: ClaimedJob) -> None:
        await asyncio.Event().wait()

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    lane = replace(queue_lane, handler=lasts, is_handed_on=True)
    monkeypatch.setattr(runner, "lane_of", lambda name: lane)

    async def stopped() -> None:
        stopping = Runner(queues=frozenset())
        stopping._begin(job, lane)
        async with asyncio.timeout(30):
            await stopping.stop()

    asyncio.run(stopped())
    with tenant.tx():
        assert list(Job.objects.values_list("state", "attempts")) == [(State.QUEUED, 0)]


def test_a_database_outage_is_reported_without_the_drivers_message(tenant: Tenant, queue_lane: Lane) -> None:
    async def broken(job: ClaimedJob) -> None:
        raise OperationalError("consuming input failed: server closed the connection unexpectedly")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=broken)))
    with tenant.tx():
        assert Job.objects.get(pk=job.id).error == BROKE_OFF


def test_only_our_own_error_messages_are_shown(tenant: Tenant, queue_lane: Lane) -> None:
    """A library's message may contain a customer's words, so it goes to the log only."""
    for error, told in ((KeyError("c4fe"), FAULT), (ValueError(), FAULT), (BadAnswer("No JSON."), "No JSON.")):

        async def fails(job: ClaimedJob, error: Exception = error) -> None:
            raise error

        add(tenant, queue_lane)
        [job] = take(queue_lane)
        ended = end_of(tenant, replace(job, attempt=job.max_attempts), replace(queue_lane, handler=fails))
        assert (ended.state, ended.error) == (State.FAILED, told)


def end_of(tenant: Tenant, job: ClaimedJob, lane: Lane) -> Job:
    """The job after an attempt."""
    asyncio.run(attempt(job, lane))
    with tenant.tx():
        return Job.objects.get(pk=job.id)


def test_an_attempt_that_exceeds_its_deadline_is_retried(tenant: Tenant, queue_lane: Lane) -> None:
    async def for_ever(job: ClaimedJob) -> None:
        await asyncio.Event().wait()

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, job, replace(queue_lane, handler=for_ever, deadline=timedelta(seconds=0.05)))
    assert (ended.state, ended.error) == (State.QUEUED, "The attempt exceeded its deadline.")


def test_a_job_that_gives_up_is_not_retried(tenant: Tenant, queue_lane: Lane) -> None:
    async def gives_up(job: ClaimedJob) -> None:
        raise GiveUp("The tool is gone.")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, job, replace(queue_lane, handler=gives_up))
    assert (ended.state, ended.error) == (State.FAILED, "The tool is gone.")


def test_a_job_that_is_put_off_keeps_its_attempts(tenant: Tenant, queue_lane: Lane) -> None:
    async def too_early(job: ClaimedJob) -> None:
        raise TryLater("The model is out.", delay_seconds=3)

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, replace(job, attempt=job.max_attempts), replace(queue_lane, handler=too_early))
    assert (ended.state, ended.attempts, ended.error) == (State.QUEUED, 0, "The model is out.")
    assert ended.started_at is not None
    assert ended.run_after - ended.started_at > timedelta(seconds=2)


def test_a_job_runs_on_behalf_of_its_tenant(tenant: Tenant, queue_lane: Lane) -> None:
    found: list[UUID] = []

    async def looks(job: ClaimedJob) -> None:
        found.append(current_tenant())

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=looks)))
    assert found == [tenant.organization.pk]


def test_retries_back_off(tenant: Tenant, queue_lane: Lane) -> None:
    async def fails(job: ClaimedJob) -> None:
        raise ValueError("again")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, replace(job, attempt=4), replace(queue_lane, handler=fails))
    assert ended.started_at is not None
    assert ended.run_after - ended.started_at > timedelta(seconds=3)


class Waiting:
    """A runner of one lane whose jobs run until they are released."""

    def __init__(self, lane: Lane, *, slots: int) -> None:
        self.lane = replace(lane, slots=slots, handler=self._wait)
        lanes.register_lanes(self.lane)
        self.begun: list[UUID] = []
        self.release = asyncio.Semaphore(0)
        self.runner = Runner(queues=frozenset())
        self.runner._lanes = {lane.name: self.lane}

    async def _wait(self, job: ClaimedJob) -> None:
        self.begun.append(job.organization_id)
        await self.release.acquire()

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[None]:
        pump = asyncio.create_task(self.runner._claim_loop())
        self.look()
        yield
        pump.cancel()
        for task in self.runner._tasks.values():
            task.cancel()
        await _until(lambda: not self.runner._tasks)

    def look(self) -> None:
        self.runner._work.set()


def test_a_tenant_alone_never_fills_a_lane(tenant: Tenant, queue_lane: Lane) -> None:
    for _ in range(20):
        add(tenant, queue_lane)

    async def run() -> None:
        worker = Waiting(queue_lane, slots=8)
        async with worker.claiming():
            await _until(lambda: len(worker.begun) == 4)
            for ended in range(1, 10):
                worker.release.release()
                await _until(lambda ended=ended: len(worker.begun) > 3 + ended)
                assert len(worker.runner._tasks) < 8

    asyncio.run(run())


def test_a_newcomer_starts_while_another_tenant_has_taken_all_it_may(
    tenant: Tenant, stranger: Tenant, queue_lane: Lane
) -> None:
    """A tenant whose model answered one word every five seconds took all reply slots."""
    for _ in range(40):
        add(tenant, queue_lane)

    async def run() -> None:
        worker = Waiting(queue_lane, slots=32)
        async with worker.claiming():
            await _until(lambda: len(worker.begun) == 16)
            await in_db(add, stranger, queue_lane)
            worker.look()
            await _until(lambda: stranger.organization.pk in worker.begun)

    asyncio.run(run())


def test_a_tenant_whose_calls_wait_for_the_database_gets_no_more_jobs(
    tenant: Tenant, stranger: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until they don't wait any longer."""
    crowded = {tenant.organization.pk}
    monkeypatch.setattr(runner, "crowded_tenants", lambda: frozenset(crowded))
    add(tenant, queue_lane)
    add(stranger, queue_lane)

    async def run() -> None:
        worker = Waiting(queue_lane, slots=8)
        async with worker.claiming():
            await _until(lambda: worker.begun == [stranger.organization.pk])
            crowded.clear()
            await _until(lambda: len(worker.begun) == 2)

    asyncio.run(run())


def test_without_redis_the_heartbeat_cancels_superseded_jobs(tenant: Tenant, interrupt_lane: Lane) -> None:
    stopped: list[UUID] = []

    async def waits(job: ClaimedJob) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(job.id)

    subject = uuid4()
    add(tenant, interrupt_lane, subject=subject)
    [job] = take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=2)

    async def run() -> None:
        worker = Runner(queues=frozenset())
        lane = replace(interrupt_lane, handler=waits, lease=timedelta(seconds=0.1))
        worker._lanes = {lane.name: lane}
        worker._begin(job, lane)
        beating = asyncio.create_task(worker._heartbeat())
        await _until(lambda: stopped == [job.id])
        beating.cancel()

    asyncio.run(run())
