"""The pace at which a process takes on one tenant's jobs."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest

from jobs import pace
from jobs.lanes import ClaimedJob, Lane
from jobs.pace import ALONE_SECONDS, FEWEST, LATE_SECONDS, START, Pace
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.jobs.conftest import add
from tests.jobs.test_runner import Waiting, _until

LATE = 2 * LATE_SECONDS


def job_of(tenant: UUID) -> ClaimedJob:
    return ClaimedJob(
        id=uuid4(),
        organization_id=tenant,
        lane="reply",
        subject_id=uuid4(),
        ordinal=1,
        key="",
        token=1,
        attempt=1,
        max_attempts=5,
    )


def with_jobs(count: int, *, tenant: UUID, most: int = 256) -> Pace:
    """A process with these jobs of a tenant, where another has just had one."""
    made, other = Pace(most=most), job_of(uuid4())
    made.take(other)
    made.give_back(other)
    for _ in range(count):
        made.take(job_of(tenant))
    return made


def test_a_late_loop_halves_the_share_of_a_tenant_down_to_a_few_jobs() -> None:
    pressing = uuid4()
    paced, shares = with_jobs(START, tenant=pressing), []
    for _ in range(4):
        paced.look(LATE)
        shares.append(paced.share)
    assert shares == [START / 2, FEWEST, FEWEST, FEWEST]
    assert paced.full_tenants() == {pressing}


def test_a_tenant_with_little_work_is_not_full_while_the_loop_is_late() -> None:
    paced, quiet = with_jobs(START, tenant=uuid4()), uuid4()
    for _ in range(FEWEST - 1):
        paced.take(job_of(quiet))
    for _ in range(8):
        paced.look(LATE)
    assert quiet not in paced.full_tenants()


def test_the_share_grows_to_its_limit_while_the_loop_is_on_time() -> None:
    paced = with_jobs(START * 2, tenant=uuid4(), most=START * 2)
    for _ in range(100):
        paced.look(0.0)
    assert paced.share == START * 2


def test_a_share_that_nobody_needs_does_not_grow() -> None:
    paced = with_jobs(FEWEST, tenant=uuid4())
    paced.share = 4.0 * FEWEST
    paced.look(0.0)
    assert paced.share == 4 * FEWEST


def test_the_share_does_not_grow_while_work_waits_for_the_database() -> None:
    pressing = uuid4()
    paced = with_jobs(START, tenant=pressing)
    paced.look(0.0, crowded=frozenset({pressing}))
    assert paced.share == START


def test_a_process_without_much_work_begins_with_a_whole_share() -> None:
    jobs = [job_of(tenant) for tenant in [uuid4()] * START]
    paced = with_jobs(0, tenant=uuid4())
    for each in jobs:
        paced.take(each)
    paced.look(LATE)
    for each in jobs:
        paced.give_back(each)
    paced.look(0.0)
    assert paced.share == START
    assert not paced.full_tenants()


def test_a_tenant_alone_is_not_paced() -> None:
    now, pressing, other = 1000.0, uuid4(), job_of(uuid4())
    paced = Pace(most=256, clock=lambda: now)
    for _ in range(2 * START):
        paced.take(job_of(pressing))
    paced.look(LATE)
    assert not paced.full_tenants()
    paced.take(other)
    assert paced.full_tenants() == {pressing}
    now += ALONE_SECONDS
    assert not paced.full_tenants()


def test_a_job_is_counted_once_and_freed_once() -> None:
    paced, job = Pace(most=256), job_of(uuid4())
    paced.take(job)
    paced.take(job)
    assert paced.heaviest == 1
    paced.give_back(job)
    paced.give_back(job)
    assert paced.heaviest == 0


def test_a_late_worker_runs_few_jobs_of_one_tenant_and_begins_those_of_another(
    tenant: Tenant, stranger: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that had to wait is claimed when another of its tenant ends, without a hint or a sweep."""
    monkeypatch.setattr(pace, "LATE_SECONDS", -1.0)
    waiting = 3 * START
    add(stranger, queue_lane)
    for _ in range(waiting):
        add(tenant, queue_lane)

    async def run() -> None:
        worker = Waiting(queue_lane, slots=1024)
        async with worker.claiming():
            await _until(lambda: worker.runner._pace.share == FEWEST)
            begun = len(worker.begun)
            assert begun < waiting
            await in_db(add, stranger, queue_lane)
            worker.look()
            await _until(lambda: worker.begun.count(stranger.organization.pk) == 2)
            assert len(worker.begun) == begun + 1
            worker.release.release()
            for _ in range(waiting):
                worker.release.release()
            await _until(lambda: len(worker.begun) == waiting + 2)

    asyncio.run(run())
