"""Claims, leases and fencing tokens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone

from jobs import claims, lanes
from jobs.claims import HeldJob
from jobs.errors import WrongState
from jobs.fence import LeaseLost, job_tx
from jobs.models import Job, State
from jobs.services import fail_job, run_again
from jobs.sweep import sweep
from tenancy.threads import _in_thread
from tests.conftest import Tenant
from tests.jobs.conftest import add, take


def expire(job) -> None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(
            "update jobs_job set lease_until = clock_timestamp() - interval '1 second' where id = %s", [job.id]
        )


def state_of(tenant: Tenant, job_id) -> str:
    with tenant.tx():
        return Job.objects.get(pk=job_id).state


def test_a_key_creates_one_job(tenant, queue_lane):
    subject = uuid4()
    add(tenant, queue_lane, subject=subject)
    add(tenant, queue_lane, subject=subject)
    with tenant.tx():
        assert Job.objects.count() == 1


def test_a_claimed_job_is_not_claimed_again(tenant, queue_lane):
    add(tenant, queue_lane)
    assert len(take(queue_lane)) == 1
    assert take(queue_lane) == []


def test_concurrent_claims_never_take_the_same_job(tenant, queue_lane):
    """The claim is one statement with SKIP LOCKED."""
    for _ in range(40):
        add(tenant, queue_lane)
    with ThreadPoolExecutor(8) as pool:
        taken = [
            job.id
            for jobs in pool.map(lambda _: _in_thread("default", lambda: take(queue_lane, 5)), range(16))
            for job in jobs
        ]
    assert len(taken) == len(set(taken)) == 40


@pytest.mark.requirement("T10", "T16")
def test_a_queue_lane_runs_one_job_per_subject(tenant, queue_lane):
    """Two turns in quick succession never overlap."""
    subject = uuid4()
    add(tenant, queue_lane, subject=subject, ordinal=1)
    add(tenant, queue_lane, subject=subject, ordinal=2)
    assert [job.ordinal for job in take(queue_lane, 10)] == [1]
    assert take(queue_lane, 10) == []


@pytest.mark.requirement("T10")
def test_a_queue_lane_runs_every_job_in_order_of_its_ordinal(tenant, queue_lane):
    subject = uuid4()
    for ordinal in (3, 1, 2):
        add(tenant, queue_lane, subject=subject, ordinal=ordinal)
    order = []
    for _ in range(3):
        [job] = take(queue_lane)
        order.append(job.ordinal)
        with job_tx(job, finish=State.DONE):
            pass
    assert order == [1, 2, 3]


def test_jobs_of_the_same_ordinal_run_oldest_first(tenant, queue_lane):
    subject = uuid4()
    made = [add(tenant, queue_lane, subject=subject, key=f"test_queue:{name}") for name in ("older", "newer")]
    for job_id in made:
        [job] = take(queue_lane, 10)
        assert job.id == job_id
        with job_tx(job, finish=State.DONE):
            pass


def test_a_postponed_job_does_not_block_another_of_its_ordinal(tenant, queue_lane):
    later = timezone.now() + timezone.timedelta(hours=1)
    subject = uuid4()
    add(tenant, queue_lane, subject=subject, key="test_queue:put_off", run_after=later)
    due = add(tenant, queue_lane, subject=subject, key="test_queue:due")
    assert [job.id for job in take(queue_lane, 10)] == [due]


def test_an_older_job_added_later_waits_without_blocking_other_subjects(tenant, queue_lane):
    """For example, a failed job that staff run again."""
    subject = uuid4()
    add(tenant, queue_lane, subject=subject, ordinal=2)
    take(queue_lane)
    add(tenant, queue_lane, subject=subject, ordinal=1)
    other = add(tenant, queue_lane)
    assert [job.id for job in take(queue_lane, 10)] == [other]


def test_lanes_of_the_same_subject_run_concurrently(tenant, queue_lane, interrupt_lane):
    subject = uuid4()
    add(tenant, queue_lane, subject=subject)
    add(tenant, interrupt_lane, subject=subject, ordinal=2)
    taken = claims.claim([queue_lane, interrupt_lane], limit=10)
    assert {job.lane for job in taken} == {queue_lane.name, interrupt_lane.name}


def test_a_claim_skips_locked_jobs(tenant, queue_lane):
    locked, free = add(tenant, queue_lane), add(tenant, queue_lane)
    with tenant.tx(), transaction.atomic(using="ops"):
        assert Job.objects.select_for_update().get(pk=locked)
        with connections["ops"].cursor() as cursor:
            cursor.execute("set local lock_timeout = '1s'")
        assert [job.id for job in take(queue_lane, 10)] == [free]


def test_a_lane_sets_the_length_of_its_lease(tenant, queue_lane, settings):
    settings.LEASE_SECONDS = None
    add(tenant, queue_lane)
    [job] = take(replace(queue_lane, lease=timedelta(hours=1)))
    with tenant.tx():
        row = Job.objects.get(pk=job.id)
    assert timedelta(minutes=59) < row.lease_until - row.started_at <= timedelta(hours=1)


def test_the_database_rejects_two_running_jobs_of_one_subject(tenant, queue_lane):
    subject = uuid4()
    for ordinal in (1, 2):
        add(tenant, queue_lane, subject=subject, ordinal=ordinal)
    take(queue_lane)
    with pytest.raises(Exception, match="one_running_per_subject"), tenant.tx():
        Job.objects.filter(ordinal=2).update(state=State.RUNNING)


def test_a_job_is_not_claimed_before_it_is_due(tenant, queue_lane):
    add(tenant, queue_lane, run_after=timezone.now() + timezone.timedelta(hours=1))
    assert take(queue_lane) == []


def test_a_flood_of_one_tenant_does_not_delay_another(tenant, stranger, queue_lane):
    for _ in range(50):
        add(tenant, queue_lane)
    late = add(stranger, queue_lane)
    first = [job.id for job in take(queue_lane, 5)]
    assert late in first


def test_jobs_of_a_tenant_that_is_held_back_stay_queued(tenant, stranger, queue_lane, interrupt_lane):
    mine, theirs, elsewhere = add(tenant, queue_lane), add(stranger, queue_lane), add(tenant, interrupt_lane)
    held_back = {queue_lane.name: frozenset({tenant.organization.pk})}
    taken = claims.claim([queue_lane, interrupt_lane], limit=10, held_back=held_back)
    assert {job.id for job in taken} == {theirs, elsewhere}
    assert state_of(tenant, mine) == State.QUEUED


def test_a_flood_has_no_effect_after_it_ends(tenant, queue_lane):
    for _ in range(30):
        add(tenant, queue_lane)
    for job in take(queue_lane, 30):
        with job_tx(job, finish=State.DONE):
            pass
    job_id = add(tenant, queue_lane)
    with tenant.tx():
        job = Job.objects.get(pk=job_id)
    assert (job.fair_at - job.created_at).total_seconds() < 0.1


def test_a_flood_in_one_lane_does_not_delay_other_lanes(tenant, queue_lane, interrupt_lane):
    for _ in range(20):
        add(tenant, queue_lane)
    job_id = add(tenant, interrupt_lane)
    with tenant.tx():
        job = Job.objects.get(pk=job_id)
    assert (job.fair_at - job.created_at).total_seconds() < 0.1


def test_a_heartbeat_renews_the_lease(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    expire(job)
    assert claims.heartbeat([HeldJob(job=job, lease_seconds=30)]) == set()
    sweep()
    assert state_of(tenant, job.id) == State.RUNNING


def test_a_heartbeat_reports_a_superseded_job(tenant, interrupt_lane):
    subject = uuid4()
    add(tenant, interrupt_lane, subject=subject, ordinal=1)
    [job] = take(interrupt_lane)
    add(tenant, interrupt_lane, subject=subject, ordinal=2)
    assert claims.heartbeat([HeldJob(job=job, lease_seconds=30)]) == {job.id}


def test_a_stale_heartbeat_reports_the_lost_job_and_renews_nothing(tenant, queue_lane):
    add(tenant, queue_lane)
    [stale] = take(queue_lane)
    expire(stale)
    sweep()
    [job] = take(queue_lane)
    expire(job)
    assert claims.heartbeat([HeldJob(job=stale, lease_seconds=30)]) == {job.id}
    sweep()
    assert state_of(tenant, job.id) == State.QUEUED


def test_a_job_with_an_expired_lease_is_requeued(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    expire(job)
    sweep()
    [again] = take(queue_lane)
    assert (again.id, again.token, again.attempt) == (job.id, job.token + 1, 2)


@pytest.mark.parametrize("finish", [None, State.DONE])
def test_a_worker_that_lost_its_lease_cannot_write(finish, tenant, queue_lane):
    add(tenant, queue_lane)
    [stale] = take(queue_lane)
    expire(stale)
    sweep()
    take(queue_lane)
    with pytest.raises(LeaseLost), job_tx(stale, finish=finish):
        tenant.project.name = "written without a lease"
        tenant.project.save()
    with tenant.tx():
        tenant.project.refresh_from_db()
    assert tenant.project.name == "Nello"


def test_a_finished_job_cannot_be_finished_again(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    with job_tx(job, finish=State.DONE):
        pass
    with pytest.raises(LeaseLost), job_tx(job, finish=State.DONE):
        pass


def test_a_job_keeps_running_when_its_result_is_rolled_back(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    with pytest.raises(ZeroDivisionError), job_tx(job, finish=State.DONE):
        raise ZeroDivisionError
    assert state_of(tenant, job.id) == State.RUNNING


def test_a_job_that_kills_its_workers_fails_when_no_attempt_is_left(tenant, queue_lane):
    add(tenant, queue_lane)
    for _ in range(queue_lane.max_attempts):
        [job] = take(queue_lane)
        expire(job)
        sweep()
    with tenant.tx():
        job = Job.objects.get(pk=job.id)
    assert (job.state, job.error) == (State.FAILED, "The worker that ran this died 5 times in a row.")


def test_an_error_while_failing_a_job_does_not_affect_other_jobs(tenant, queue_lane):
    flawed, other = add(tenant, queue_lane), add(tenant, queue_lane)

    def on_failed(job, reason) -> None:
        if job.id == flawed:
            raise KeyError("a bug in what the failure brings about")

    lanes.register_lanes(replace(queue_lane, max_attempts=1, on_failed=on_failed))
    for job in sorted(take(queue_lane, 2), key=lambda job: job.id != flawed):
        expire(job)
    sweep()
    assert state_of(tenant, flawed) == State.RUNNING
    assert state_of(tenant, other) == State.FAILED


def test_a_heartbeat_skips_locked_jobs(tenant, queue_lane):
    """The lock is the worker's own, so the job is still held."""
    for _ in range(2):
        add(tenant, queue_lane)
    jobs = take(queue_lane, 2)
    with job_tx(jobs[0]), transaction.atomic(using="ops"):
        with connections["ops"].cursor() as cursor:
            cursor.execute("set local lock_timeout = '1s'")
        assert claims.heartbeat([HeldJob(job=job, lease_seconds=30) for job in jobs]) == set()


def test_the_job_is_locked_until_the_worker_commits(tenant, queue_lane):
    """No other transaction can supersede or claim the job between the check and the commit."""
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    with job_tx(job), transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute("select 1 from jobs_job where id = %s for no key update skip locked", [job.id])
        assert cursor.fetchall() == []


def test_an_unknown_lane_does_not_stop_the_sweep(tenant, queue_lane, interrupt_lane):
    for lane in (queue_lane, interrupt_lane):
        add(tenant, lane)
        [job] = take(lane)
        expire(job)
    add(tenant, interrupt_lane)
    del lanes._lanes[interrupt_lane.name]
    try:
        assert interrupt_lane.name not in sweep()
    finally:
        lanes.register_lanes(interrupt_lane)
    assert len(take(queue_lane)) == 1


def test_a_failed_job_runs_again(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    fail_job(job, reason="broken")
    with tenant.tx():
        run_again(tenant.project, job.id)
    [again] = take(queue_lane)
    assert (again.id, again.attempt) == (job.id, 1)


def test_failing_a_job_locks_its_subject_first(tenant, queue_lane):
    order: list[str] = []
    lane = replace(
        queue_lane, lock=lambda subject: order.append("lock"), on_failed=lambda job, reason: order.append("on_failed")
    )
    lanes.register_lanes(lane)
    add(tenant, lane)
    [job] = take(lane)
    fail_job(job, reason="broken")
    assert order == ["lock", "on_failed"]


def test_only_a_failed_job_can_run_again(tenant, queue_lane):
    job_id = add(tenant, queue_lane)
    with pytest.raises(WrongState, match="this one is queued"), tenant.tx():
        run_again(tenant.project, job_id)


def test_a_stopping_worker_requeues_jobs_without_counting_the_attempt(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    assert claims.requeue(job, error="", delay_seconds=0, forgive=True)
    [again] = take(queue_lane)
    assert again.attempt == 1


def test_a_stale_token_cannot_requeue(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    assert not claims.requeue(replace(job, token=job.token - 1), error="", delay_seconds=0)


def test_a_finished_job_is_neither_requeued_nor_canceled(tenant, queue_lane):
    """The worker may stop, or send a heartbeat, between the last commit of a job and the end of its task."""
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    with job_tx(job, finish=State.DONE):
        pass
    assert not claims.requeue(job, error="", delay_seconds=0, forgive=True)
    assert claims.heartbeat([HeldJob(job=job, lease_seconds=30)]) == set()
    assert state_of(tenant, job.id) == State.DONE


def test_a_requeued_job_waits_and_records_its_error(tenant, queue_lane):
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    assert claims.requeue(job, error="the model was away", delay_seconds=60)
    assert take(queue_lane) == []
    with tenant.tx():
        assert Job.objects.get(pk=job.id).error == "the model was away"
