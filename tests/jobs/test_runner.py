"""What a worker survives, and what staff reads of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError

from jobs import runner, sweep
from jobs.attempt import BROKE_OFF, attempt
from jobs.claimed import ClaimedJob
from jobs.lanes import Lane
from jobs.models import Job
from jobs.runner import Runner, _forever
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

    monkeypatch.setattr(sweep, "_hooks", [hook])

    async def until_swept_again() -> None:
        service = asyncio.create_task(_forever(Runner(queues=frozenset())._sweep))
        async with asyncio.timeout(60):
            while len(swept) < 2 and not service.done():
                await asyncio.sleep(0.01)
        assert not service.done(), service.exception()
        service.cancel()

    asyncio.run(until_swept_again())
    assert len(swept) >= 2


def test_an_outage_of_the_database_is_told_in_a_sentence(tenant: Tenant, queue_lane: Lane) -> None:
    """Not in what its driver says."""

    async def broken(job: ClaimedJob) -> None:
        raise OperationalError("consuming input failed: server closed the connection unexpectedly")

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=broken)))
    with tenant.tx():
        assert Job.objects.get(pk=job.id).error == BROKE_OFF
