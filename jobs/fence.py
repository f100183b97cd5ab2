"""The transactions of a worker: each proves first that the job is still its own (design section 3, point 4).

Locks are taken in one order everywhere: a job's subject, then jobs of it, then what they are about. So a transaction that locks
only its job needs no more than `job_tx`; one that locks the subject too does that first, and then lets the job `prove` itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.db import connection, transaction

from jobs import hints
from jobs.claimed import ClaimedJob
from jobs.lanes import lane_of
from jobs.models import State
from projects.tenancy import tenant_tx

_KEEP = """
update jobs_job set lease_until = clock_timestamp() + %(lease)s * interval '1 second'
where id = %(id)s and token = %(token)s and state = 'running'
"""

_FINISH = """
update jobs_job j set state = %(state)s, error = %(error)s, finished_at = clock_timestamp(), lease_until = null
where j.id = %(id)s and j.token = %(token)s and j.state = 'running'
returning (select exists (select 1 from jobs_job n where n.lane = j.lane and n.subject_id = j.subject_id
                          and n.state = 'queued' and n.run_after <= clock_timestamp()))
"""


class Zombie(RuntimeError):
    """This job belongs to another worker by now, or was superseded: nothing may be written."""


@contextmanager
def job_tx(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> Iterator[None]:
    """One transaction of the job's tenant that commits only if the job is still ours. With `finish`, its last one.

    Raises Zombie before anything is written.
    """
    with tenant_tx(job.organization_id):
        prove(job, finish=finish, error=error)
        yield


def prove(job: ClaimedJob, *, finish: State | None = None, error: str = "") -> None:
    """Keep the job's lease in the running transaction of its tenant, or end it with `finish`. Raises Zombie."""
    if finish is None:
        _keep(job)
    else:
        _finish(job, state=finish, error=error)


@contextmanager
def reading(job: ClaimedJob) -> Iterator[None]:
    """A transaction of the job's tenant that only reads. It proves nothing: whoever lost the job is refused when it writes."""
    with tenant_tx(job.organization_id):
        yield


def _keep(job: ClaimedJob) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, {"id": job.id, "token": job.token, "lease": lane_of(job.lane).lease_seconds})
        if cursor.rowcount != 1:
            raise Zombie(Zombie.__doc__)


def _finish(job: ClaimedJob, *, state: State, error: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_FINISH, {"id": job.id, "token": job.token, "state": state, "error": error[:2000]})
        row = cursor.fetchone()
    if row is None:
        raise Zombie(Zombie.__doc__)
    if row[0]:
        transaction.on_commit(partial(hints.hint, [job.lane]))
