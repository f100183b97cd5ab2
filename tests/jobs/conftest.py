from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from jobs import lanes
from jobs.claims import claim
from jobs.enqueue import JobRequest, enqueue
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from tests.conftest import Tenant


async def _unused(job: ClaimedJob) -> None:
    raise AssertionError("these tests claim by hand")


@pytest.fixture
def queue_lane() -> Iterator[Lane]:
    yield from _registered(Lane("test_queue", Queue.WORK, Mode.QUEUE, _unused, lease=timedelta(seconds=30)))


@pytest.fixture
def interrupt_lane() -> Iterator[Lane]:
    yield from _registered(Lane("test_interrupt", Queue.WORK, Mode.INTERRUPT, _unused))


def _registered(lane: Lane) -> Iterator[Lane]:
    lanes.register_lanes(lane)
    yield lane
    del lanes._lanes[lane.name]


def add(tenant: Tenant, lane: Lane, *, subject: UUID | None = None, ordinal: int = 1, **changes) -> UUID:
    """Queue one job in its own transaction."""
    subject = subject or uuid4()
    request = JobRequest(lane.name, tenant.project.pk, subject, ordinal, f"{lane.name}:{subject}:{ordinal}")
    with tenant.tx():
        made = enqueue([replace(request, **changes)])
    return made[0].id if made else request.id


def take(lane: Lane, limit: int = 1) -> list[ClaimedJob]:
    return claim([lane], limit=limit)
