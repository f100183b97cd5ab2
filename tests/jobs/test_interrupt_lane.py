"""Interrupt lanes: a newer job supersedes the older jobs of its subject."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
import redis
from django.conf import settings

from jobs import wakeups
from jobs.enqueue import supersede
from jobs.fence import LeaseLost, job_tx
from jobs.lanes import Mode
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.jobs.conftest import add, take


def states(tenant: Tenant) -> list[str]:
    with tenant.tx():
        return list(Job.objects.order_by("ordinal").values_list("state", flat=True))


@pytest.mark.requirement("T13")
def test_a_newer_job_supersedes_older_ones(tenant, interrupt_lane):
    subject = uuid4()
    for ordinal in (1, 2, 3):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
    assert states(tenant) == [State.SUPERSEDED, State.SUPERSEDED, State.QUEUED]


@pytest.mark.requirement("T13")
def test_other_subjects_are_not_affected(tenant, interrupt_lane):
    add(tenant, interrupt_lane, ordinal=1)
    add(tenant, interrupt_lane, ordinal=2)
    assert states(tenant) == [State.QUEUED, State.QUEUED]


@pytest.mark.requirement("T13")
def test_a_superseded_job_cannot_write(tenant, interrupt_lane):
    subject = uuid4()
    add(tenant, interrupt_lane, subject=subject, ordinal=1)
    [old] = take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=2)
    with pytest.raises(LeaseLost), job_tx(old, finish=State.DONE):
        pass


@pytest.mark.requirement("T13")
def test_the_newer_job_can_start_at_once(tenant, interrupt_lane):
    subject = uuid4()
    add(tenant, interrupt_lane, subject=subject, ordinal=1)
    take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=2)
    assert [job.ordinal for job in take(interrupt_lane)] == [2]


@pytest.mark.requirement("T13")
def test_workers_are_told_to_cancel_superseded_calls(tenant, interrupt_lane):
    subject = uuid4()
    add(tenant, interrupt_lane, subject=subject, ordinal=1)
    [old] = take(interrupt_lane)
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe(wakeups.CANCELLATIONS)
        channel.get_message(timeout=1)
        add(tenant, interrupt_lane, subject=subject, ordinal=2)
        message = channel.get_message(timeout=5)
    assert json.loads(message["data"]) == [str(old.id)]


def test_after_three_interruptions_the_running_job_may_finish(tenant, interrupt_lane):
    """The lane makes progress however often it is interrupted."""
    subject = uuid4()
    for ordinal in (1, 2, 3, 4):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
        [running] = take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=5)
    assert take(interrupt_lane) == []
    with job_tx(running, finish=State.DONE):
        pass
    assert [job.ordinal for job in take(interrupt_lane)] == [5]


def test_a_waiting_job_is_superseded_after_any_number_of_interruptions(tenant, interrupt_lane):
    subject = uuid4()
    for ordinal in (1, 2, 3):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
        take(interrupt_lane)
    for ordinal in (4, 5):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
    assert states(tenant) == [State.SUPERSEDED] * 4 + [State.QUEUED]


def test_only_running_jobs_count_as_interrupted(tenant, interrupt_lane):
    subject = uuid4()
    for ordinal in range(1, 6):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
    take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=6)
    assert [job.ordinal for job in take(interrupt_lane)] == [6]


@pytest.mark.requirement("T13")
def test_only_older_jobs_of_the_same_lane_are_superseded(tenant, interrupt_lane, queue_lane):
    subject = uuid4()
    for lane in (queue_lane, interrupt_lane):
        for ordinal in (1, 3):
            add(tenant, lane, subject=subject, ordinal=ordinal, mode=Mode.QUEUE)
    with tenant.tx():
        ended = supersede(lane=interrupt_lane.name, subject_id=subject, before=2, reason="closed")
        assert ended.ordinals == (1,)
        left = Job.objects.filter(state=State.QUEUED).order_by("lane", "ordinal").values_list("lane", "ordinal")
        assert list(left) == [(interrupt_lane.name, 3), (queue_lane.name, 1), (queue_lane.name, 3)]


def test_supersede_can_also_end_a_job_that_may_finish(tenant, interrupt_lane):
    subject = uuid4()
    for ordinal in (1, 2, 3, 4):
        add(tenant, interrupt_lane, subject=subject, ordinal=ordinal)
        [running] = take(interrupt_lane)
    with tenant.tx():
        spared = supersede(lane=interrupt_lane.name, subject_id=subject, before=9, reason="closed")
        ended = supersede(lane=interrupt_lane.name, subject_id=subject, before=9, reason="closed", spares_patient=False)
    assert (spared.ordinals, ended.ordinals) == ((), (running.ordinal,))


def test_an_interrupting_job_inherits_the_place_in_the_queue(tenant, interrupt_lane):
    subject = uuid4()
    first = add(tenant, interrupt_lane, subject=subject, ordinal=1)
    for _ in range(20):
        add(tenant, interrupt_lane)
    second = add(tenant, interrupt_lane, subject=subject, ordinal=2)
    with tenant.tx():
        assert Job.objects.get(pk=second).fair_at == Job.objects.get(pk=first).fair_at
