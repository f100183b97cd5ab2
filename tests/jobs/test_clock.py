"""Steps of the database's clock. A step back is what makes the times of rows lie ahead."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from jobs import clock, sweep
from jobs.clock import DatabaseClock
from jobs.lanes import Lane
from jobs.models import Job, State
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.jobs.conftest import add, take

HOUR = timedelta(hours=1)
TIMES = ("created_at", "started_at", "run_after", "fair_at", "lease_until")


@pytest.fixture(autouse=True)
def _new_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_clock", DatabaseClock())


def step_back() -> None:
    """Let every stored time lie an hour ahead, as after a step back."""
    bypass_rls("update jobs_job set " + ", ".join(f"{name} = {name} + interval '1 hour'" for name in TIMES))


def delay_of(tenant: Tenant, job_id: UUID) -> timedelta:
    """The time until the job is due."""
    with tenant.tx():
        return Job.objects.get(pk=job_id).run_after - datetime.now(UTC)


def test_queued_jobs_are_due_after_a_step_back(tenant: Tenant, queue_lane: Lane) -> None:
    queued = add(tenant, queue_lane)
    step_back()
    assert take(queue_lane) == []
    sweep.sweep()
    assert [job.id for job in take(queue_lane)] == [queued]


def test_a_delay_begins_anew_after_a_step_back(tenant: Tenant, queue_lane: Lane) -> None:
    delayed = add(tenant, queue_lane, run_after=datetime.now(UTC) + timedelta(minutes=10))
    step_back()
    sweep.sweep()
    assert timedelta(minutes=9) < delay_of(tenant, delayed) < timedelta(minutes=11)


def test_an_appointment_follows_the_clock(tenant: Tenant, queue_lane: Lane) -> None:
    tomorrow = add(tenant, queue_lane, run_after=datetime.now(UTC) + timedelta(days=1))
    step_back()
    sweep.sweep()
    assert delay_of(tenant, tomorrow) > timedelta(days=1, minutes=59)


def test_the_lease_of_a_dead_worker_ends_after_a_step_back(tenant: Tenant, queue_lane: Lane) -> None:
    add(tenant, queue_lane)
    [held] = take(queue_lane)
    step_back()
    sweep.sweep()
    with tenant.tx():
        job = Job.objects.get(pk=held.id)
        assert job.state == State.RUNNING
        assert job.lease_until is not None
        assert job.lease_until < datetime.now(UTC) + timedelta(minutes=1)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets the time that the database tells, as a difference from now."""

    def tell(difference: timedelta) -> None:
        monkeypatch.setattr(clock, "_now", lambda: datetime.now(UTC) + difference)

    return tell


def test_leases_do_not_end_by_a_step_forward(
    tenant: Tenant, queue_lane: Lane, told: Callable[[timedelta], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tenant, queue_lane)
    [held] = take(queue_lane)
    told(timedelta(0))
    sweep.sweep()
    bypass_rls("update jobs_job set lease_until = lease_until - interval '1 hour'")
    told(HOUR)
    sweep.sweep()
    with tenant.tx():
        assert Job.objects.get(pk=held.id).state == State.RUNNING
    monkeypatch.setattr(sweep._clock, "_leases_count_at", 0.0)
    sweep.sweep()
    with tenant.tx():
        assert Job.objects.get(pk=held.id).state == State.QUEUED


def test_a_slow_answer_is_no_step(database: None, told: Callable[[timedelta], None]) -> None:
    watched = DatabaseClock()
    for difference in (timedelta(0), timedelta(seconds=3), timedelta(0)):
        told(difference)
        watched.read()
        assert watched.leases_count
