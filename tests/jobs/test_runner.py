"""Failures that a worker survives, and how staff read about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from jobs import runner, sweep
from jobs.attempt import BROKE_OFF, FAULT, attempt
from jobs.errors import GiveUp
from jobs.lanes import ClaimedJob, Lane
from jobs.models import Job, State
from jobs.runner import Runner, _forever
from llm.errors import BadAnswer
from tests.conftest import Tenant
from tests.jobs.conftest import add, take


def test_a_bug_in_a_sweep_stops_no_later_sweep(database: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.SWEEP_SECONDS = 0.01
    monkeypatch.setattr(runner, "REST_SECONDS", 0.01)
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


def test_a_job_that_is_claimed_again_where_it_still_runs_is_kept(tenant: Tenant, queue_lane: Lane) -> None:
    """After an outage its lease has run out, and it is claimed again by the same worker."""
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


def test_what_ends_while_a_worker_stops_keeps_no_other_from_being_given_back(
    tenant: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop costs a job no attempt."""
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


def test_an_outage_of_the_database_is_told_in_a_sentence(tenant: Tenant, queue_lane: Lane) -> None:
    """Not in what its driver says."""

    async def broken(job: ClaimedJob) -> None:
        raise OperationalError("consuming input failed: server closed the connection unexpectedly")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=broken)))
    with tenant.tx():
        assert Job.objects.get(pk=job.id).error == BROKE_OFF


def test_a_fault_of_ours_is_told_in_a_sentence(tenant: Tenant, queue_lane: Lane) -> None:
    """What a library says of it, which may hold a customer's words, is for the log; a sentence of our own is told."""
    for error, told in ((KeyError("c4fe"), FAULT), (ValueError(), FAULT), (BadAnswer("No JSON."), "No JSON.")):

        async def fails(job: ClaimedJob, error: Exception = error) -> None:
            raise error

        add(tenant, queue_lane)
        [job] = take(queue_lane)
        ended = end_of(tenant, replace(job, attempt=job.max_attempts), replace(queue_lane, handler=fails))
        assert (ended.state, ended.error) == (State.FAILED, told)


def end_of(tenant: Tenant, job: ClaimedJob, lane: Lane) -> Job:
    """What an attempt makes of the job."""
    asyncio.run(attempt(job, lane))
    with tenant.tx():
        return Job.objects.get(pk=job.id)


def test_an_attempt_that_takes_too_long_is_broken_off_and_tried_again(tenant: Tenant, queue_lane: Lane) -> None:
    async def for_ever(job: ClaimedJob) -> None:
        await asyncio.Event().wait()

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, job, replace(queue_lane, handler=for_ever, deadline=timedelta(seconds=0.05)))
    assert (ended.state, ended.error) == (State.QUEUED, "It took longer than its deadline.")


def test_what_can_not_succeed_is_not_tried_again(tenant: Tenant, queue_lane: Lane) -> None:
    async def gives_up(job: ClaimedJob) -> None:
        raise GiveUp("The tool is gone.")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, job, replace(queue_lane, handler=gives_up))
    assert (ended.state, ended.error) == (State.FAILED, "The tool is gone.")


def test_each_attempt_waits_longer_than_the_one_before(tenant: Tenant, queue_lane: Lane) -> None:
    async def fails(job: ClaimedJob) -> None:
        raise ValueError("again")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    ended = end_of(tenant, replace(job, attempt=4), replace(queue_lane, handler=fails))
    assert ended.started_at is not None
    assert ended.run_after - ended.started_at > timedelta(seconds=3)


def test_a_worker_runs_so_many_jobs_at_once_and_goes_on_as_they_end(
    tenant: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SIDE_BY_SIDE", 2)
    monkeypatch.setattr(runner, "CLAIM_AT_ONCE", 1)
    begun: list[asyncio.Event] = []

    async def waits(job: ClaimedJob) -> None:
        begun.append(asyncio.Event())
        await begun[-1].wait()

    for _ in range(4):
        add(tenant, queue_lane)

    async def run() -> None:
        worker = Runner(queues=frozenset())
        worker._lanes = {queue_lane.name: replace(queue_lane, handler=waits)}
        pump = asyncio.create_task(worker._pump())
        worker._work.set()
        await _until(lambda: len(begun) == 2)
        assert not worker.wake(queue_lane.name)
        begun[0].set()
        await _until(lambda: len(begun) == 3)
        assert len(worker._tasks) == 2
        for event in begun:
            event.set()
        await _until(lambda: len(begun) == 4)
        begun[3].set()
        pump.cancel()
        await _until(lambda: not worker._tasks)

    asyncio.run(run())


def test_without_redis_a_superseded_call_is_stopped_by_the_heartbeat(tenant: Tenant, interrupt_lane: Lane) -> None:
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
