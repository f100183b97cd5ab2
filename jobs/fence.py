"""Fenced transactions: a worker proves that it still holds the job before it writes.

Locks are always taken in the same order: the subject of a job, its jobs, then other rows. A transaction that locks only
its job uses `job_tx`. One that also locks the subject does so first and then calls `prove`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import cast

from django.db import transaction

from jobs import wakeups
from jobs.job_telemetry import count_finished
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import tenant_tx

# States are parameters. As literals, they would let PostgreSQL choose a partial index of all running or queued jobs,
# which always looks the smallest but holds many dead entries.
# FOR NO KEY UPDATE: until the transaction ends, the job can be neither superseded nor claimed. Only the heartbeat
# renews the lease, because each write would add a version of the row to all of its indexes.

_HOLD = Prepared("select 1 from jobs_job where id = %s and token = %s and state = %s for no key update")

# The subquery reads the index of live jobs, in its order.
_FINISH = Prepared("""
update jobs_job j set state = %s, error = %s, finished_at = clock_timestamp(), lease_until = null
where j.id = %s and j.token = %s and j.state = %s
returning (select exists (select 1 from jobs_job n where n.lane = j.lane and n.subject_id = j.subject_id
                          and n.state in ('queued', 'running') and n.state = %s and n.run_after <= clock_timestamp()))
""")

_AGE = Prepared("select clock_timestamp() - created_at from jobs_job where id = %s and token = %s")


class LeaseLost(RuntimeError):
    """Another worker holds this job, or it was superseded. Nothing may be written."""


@contextmanager
def job_tx(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> Iterator[None]:
    """A transaction of the job's tenant that commits only if this worker still holds the job.

    With `finish`, it also ends the job. Raises LeaseLost before anything is written.
    """
    with tenant_tx(job.organization_id, plans_once=True):
        prove(job, finish=finish, error=error)
        yield


def prove(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> None:
    """Lock the job until the current transaction ends, or end it with `finish`. Raises LeaseLost."""
    if finish is None:
        _hold(job)
    else:
        _finish(job, state=finish, error=error)


@contextmanager
def reading(job: ClaimedJob) -> Iterator[None]:
    """A read-only transaction of the job's tenant, without a check of the lease. Only writes need one."""
    with tenant_tx(job.organization_id, plans_once=True):
        yield


def age_of(job: ClaimedJob) -> timedelta:
    """The time since the job was queued first, by the database's clock. Raises LeaseLost."""
    with reading(job):
        found = _AGE(job.id, job.token)
    if not found:
        raise LeaseLost(LeaseLost.__doc__)
    return cast(timedelta, found[0][0])


def _hold(job: ClaimedJob) -> None:
    if not _HOLD(job.id, job.token, State.RUNNING):
        raise LeaseLost(LeaseLost.__doc__)


def _finish(job: ClaimedJob, *, state: State, error: str) -> None:
    ended = _FINISH(state, error[:2000], job.id, job.token, State.RUNNING, State.QUEUED)
    if not ended:
        raise LeaseLost(LeaseLost.__doc__)
    count_finished(job, state)
    [(is_more,)] = ended
    if is_more:
        transaction.on_commit(partial(wakeups.hint, [job.lane]))
