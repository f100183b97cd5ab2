"""Outages of the database or a model during a job: no attempt is used up, and no outcome is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from django.db import DatabaseError, IntegrityError, connection

from jobs import claims, outages, runner
from jobs.attempt import attempt
from jobs.lanes import ClaimedJob, Lane
from jobs.models import Job, State
from jobs.outages import UNAVAILABLE, delay_for_model, delay_seconds, is_outage, until_stored
from llm.errors import BadAnswer, BreakerOpen, FirstTokenDeadline, LlmError, RateLimited, Unavailable
from tenancy.threads import in_db
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.jobs.conftest import add, take


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0.01)


def refuse(state: str) -> None:
    """Let PostgreSQL refuse a statement with an SQLSTATE."""
    with connection.cursor() as cursor:
        cursor.execute(f"do $$ begin raise exception 'refused' using errcode = '{state}'; end $$")


def refusing_first(write: Callable[..., object], *, state: str = "53100") -> Callable[..., object]:
    """The write, refused by a full disk at its first call."""
    states = iter([state])

    def written(*args: object, **kwargs: object) -> object:
        if (first := next(states, None)) is not None:
            refuse(first)
        return write(*args, **kwargs)

    return written


@pytest.mark.parametrize(
    ("state", "counts"), [("53100", False), ("53300", False), ("58030", False), ("57P01", False), ("57014", True)]
)
def test_only_a_job_s_own_errors_count_as_attempts(tenant: Tenant, queue_lane: Lane, state: str, counts: bool) -> None:
    async def meets_it(job: ClaimedJob) -> None:
        await in_db(refuse, state)

    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=meets_it)))
    with tenant.tx():
        stored = Job.objects.get(pk=job.id)
        assert (stored.state, stored.attempts) == (State.QUEUED, int(counts))
        assert (stored.error == UNAVAILABLE) is not counts


def test_a_job_is_put_off_as_soon_as_the_database_takes_it(
    tenant: Tenant, queue_lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meets_a_full_disk(job: ClaimedJob) -> None:
        await in_db(refuse, "53100")

    monkeypatch.setattr(runner.claims, "requeue", refusing_first(claims.requeue))
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=meets_a_full_disk)))
    with tenant.tx():
        stored = Job.objects.get(pk=job.id)
        assert (stored.state, stored.attempts) == (State.QUEUED, 0)


def test_an_outcome_is_stored_as_soon_as_the_database_takes_it(database: None) -> None:
    stored: list[str] = []
    asyncio.run(until_stored(refusing_first(stored.append), "the outcome"))
    assert stored == ["the outcome"]


def test_a_write_that_the_database_refuses_for_good_is_not_repeated(database: None) -> None:
    with pytest.raises(IntegrityError):
        asyncio.run(until_stored(refusing_first(lambda: None, state="23505")))


def test_the_pause_grows_up_to_eight_seconds() -> None:
    assert [delay_seconds(claims=number) for number in (1, 2, 5, 5000)] == [0.5, 1.0, 8.0, 8.0]


def test_an_error_of_our_own_is_no_outage() -> None:
    assert not is_outage(DatabaseError())


async def _fails(_: ClaimedJob, error: LlmError) -> None:
    raise error


def stored_after(tenant: Tenant, queue_lane: Lane, error: LlmError, *, age: str = "0 s") -> Job:
    """The job after an attempt that met this error of a model."""
    add(tenant, queue_lane)
    bypass_rls(f"update jobs_job set created_at = created_at - interval '{age}'")
    [job] = take(queue_lane)
    asyncio.run(attempt(job, replace(queue_lane, handler=partial(_fails, error=error))))
    with tenant.tx():
        return Job.objects.get(pk=job.id)


@pytest.mark.parametrize(
    ("error", "counts"),
    [(Unavailable(), 0), (BreakerOpen(), 0), (RateLimited(), 0), (BadAnswer(), 1), (FirstTokenDeadline(), 1)],
    ids=lambda value: getattr(value, "code", value),
)
def test_an_attempt_at_a_model_that_is_out_does_not_count(
    tenant: Tenant, queue_lane: Lane, error: LlmError, counts: int
) -> None:
    """Half a minute without a model used all five up, and left promises to a person."""
    job = stored_after(tenant, queue_lane, error)
    assert (job.state, job.attempts, job.error) == (State.QUEUED, counts, str(error))


def test_attempts_count_once_a_model_was_out_for_long(tenant: Tenant, queue_lane: Lane) -> None:
    assert stored_after(tenant, queue_lane, Unavailable(), age="16 minutes").attempts == 1


def test_the_pause_for_a_model_grows_up_to_half_a_minute(tenant: Tenant, queue_lane: Lane) -> None:
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    pauses = [asyncio.run(delay_for_model(replace(job, token=token), Unavailable())) or 0.0 for token in (1, 4, 90)]
    assert [0.25 <= pauses[0] <= 0.5, 2 <= pauses[1] <= 4, 15 <= pauses[2] <= 30] == [True, True, True]


def test_a_model_that_names_a_pause_is_left_alone_for_it(tenant: Tenant, queue_lane: Lane) -> None:
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    assert asyncio.run(delay_for_model(job, RateLimited(retry_after_s=20))) == 20
