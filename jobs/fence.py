"""The transactions of a worker. Each one first proves that the worker still owns the job.

Locks are always taken in the same order: the subject of a job, its jobs, then other rows. A transaction that locks only its job
uses `job_tx`; one that also locks the subject does so first, and then calls `prove`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.db import transaction

from jobs import wakeups
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import tenant_tx

# The states come as values. As words of the statement they would let PostgreSQL go by an index of all running or queued jobs,
# which always looks the smallest, and holds many dead entries where jobs are short.

# Locked, it can neither be superseded nor claimed before the transaction ends. Its lease is the heartbeat's affair: writing it here
# too would be a new version of the row, in all of its indexes.
_HOLD = Prepared("select 1 from jobs_job where id = %s and token = %s and state = %s for no key update")

# Whether more is queued: by the index of what is queued or running, in its order.
_FINISH = Prepared("""
update jobs_job j set state = %s, error = %s, finished_at = clock_timestamp(), lease_until = null
where j.id = %s and j.token = %s and j.state = %s
returning (select exists (select 1 from jobs_job n where n.lane = j.lane and n.subject_id = j.subject_id
                          and n.state in ('queued', 'running') and n.state = %s and n.run_after <= clock_timestamp()))
""")


class LeaseLost(RuntimeError):
    """This job belongs to another worker by now, or was superseded: nothing may be written."""


@contextmanager
def job_tx(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> Iterator[None]:
    """One transaction of the job's tenant that commits only if the job is still ours. With `finish`, its last one.

    Raises Zombie before anything is written.
    """
    with tenant_tx(job.organization_id, plans_once=True):
        prove(job, finish=finish, error=error)
        yield


def prove(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> None:
    """Hold the job to the end of the running transaction of its tenant, or end it with `finish`. Raises Zombie."""
    if finish is None:
        _hold(job)
    else:
        _finish(job, state=finish, error=error)


@contextmanager
def reading(job: ClaimedJob) -> Iterator[None]:
    """A transaction of the job's tenant that only reads. It proves nothing: whoever lost the job is refused when it writes."""
    with tenant_tx(job.organization_id, plans_once=True):
        yield


def _hold(job: ClaimedJob) -> None:
    if not _HOLD(job.id, job.token, State.RUNNING):
        raise LeaseLost(LeaseLost.__doc__)


def _finish(job: ClaimedJob, *, state: State, error: str) -> None:
    ended = _FINISH(state, error[:2000], job.id, job.token, State.RUNNING, State.QUEUED)
    if not ended:
        raise LeaseLost(LeaseLost.__doc__)
    [(is_more,)] = ended
    if is_more:
        transaction.on_commit(partial(wakeups.hint, [job.lane]))
