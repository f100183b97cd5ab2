"""Claims jobs, renews their leases and releases them. Uses mg_ops, because a worker claims for every tenant.

All times are those of the database's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connections, transaction

from jobs.lanes import ClaimedJob, Lane, lane_of, lanes
from tenancy.postgresql.prepared import Prepared

# Of due jobs with one ordinal, as an effect's are, the older goes first: two at once would undo the whole claim, again and again.
# One that is put off lets the others pass.
# The lanes stand in the text, because a statement without parameters is planned once and no more: planning one with arrays of
# an unknown length took PostgreSQL twice as long as running it.
_CLAIM = """
with due as (
    select j.id, l.lease from (values {lanes}) as l(name, lease)
    cross join lateral (
        select q.id from jobs_job q
        where q.lane = l.name and q.state = 'queued' and q.run_after <= clock_timestamp()
          and not exists (select 1 from jobs_job e where e.lane = q.lane and e.subject_id = q.subject_id
                          and e.state in ('queued', 'running') and (e.ordinal < q.ordinal or e.state = 'running'
                               or e.ordinal = q.ordinal and e.id < q.id and e.run_after <= clock_timestamp()))
        order by q.fair_at limit {limit} for update skip locked) j)
update jobs_job j set state = 'running', token = token + 1, attempts = attempts + 1, started_at = clock_timestamp(),
       lease_until = clock_timestamp() + due.lease * interval '1 second', error = ''
from due where j.id = due.id
returning j.id, j.organization_id, j.lane, j.subject_id, j.ordinal, j.key, j.token, j.attempts
"""

# A job that is locked is being written by its worker, which keeps the lease itself, or is being superseded: waiting for it
# with others locked already could deadlock.
_HEARTBEAT = """
with free as (
    select j.id, m.lease from jobs_job j
    join unnest(%(ids)s::uuid[], %(tokens)s::bigint[], %(leases)s::float8[]) as m(id, token, lease) on j.id = m.id
    where j.token = m.token and j.state = 'running' for update of j skip locked)
update jobs_job j set lease_until = clock_timestamp() + free.lease * interval '1 second'
from free where j.id = free.id
returning j.id
"""

_STILL_WANTED = """
select j.id from jobs_job j join unnest(%(ids)s::uuid[], %(tokens)s::bigint[]) as m(id, token) on j.id = m.id
where j.token = m.token and j.state in ('running', 'done', 'failed', 'skipped')
"""

_EXPIRED = """
select id, organization_id, lane, subject_id, ordinal, key, token, attempts from jobs_job
where state = 'running' and lease_until < clock_timestamp() and lane = any(%(known)s)
order by lease_until limit 200 for update skip locked
"""

_GIVE_BACK = """
update jobs_job set state = 'queued', lease_until = null, error = %(error)s, attempts = attempts - %(forgive)s,
       run_after = clock_timestamp() + %(delay)s * interval '1 second'
where id = %(id)s and token = %(token)s and state = 'running'
"""

# A lane is named when work waits in it that a worker could take now.
_WAITING = "select distinct lane from jobs_job where state = 'queued' and run_after <= clock_timestamp()"


@dataclass(frozen=True)
class Held:
    """A job in this process's hands, with its lane's lease in seconds."""

    job: ClaimedJob
    lease_seconds: float


def claim(wanted: Sequence[Lane], *, limit: int) -> list[ClaimedJob]:
    """Take up to `limit` due jobs of each lane, the fairest first, at most one per subject and that the oldest."""
    statement = _claim_statement(tuple((lane.name, lane.lease_seconds) for lane in wanted), limit)
    try:
        return [_claimed(row) for row in statement()]
    except IntegrityError:
        # Two claims met at one subject; the index let one through, the next wake takes the rest.
        return []


@cache
def _claim_statement(wanted: tuple[tuple[str, float], ...], limit: int) -> Prepared:
    """The claim for lanes of our own making, named with their leases in seconds."""
    lanes = ", ".join(f"('{name}', {lease:f}::float8)" for name, lease in wanted)
    return Prepared(_CLAIM.format(lanes=lanes, limit=limit), using="ops")


def heartbeat(held: Sequence[Held]) -> set[UUID]:
    """Extend the leases. Returns the ids of jobs that are no longer ours to run: superseded, or taken by another."""
    parameters: dict[str, Any] = {
        "ids": [one.job.id for one in held],
        "tokens": [one.job.token for one in held],
        "leases": [one.lease_seconds for one in held],
    }
    with connections["ops"].cursor() as cursor:
        cursor.execute(_HEARTBEAT, parameters)
        kept = {row[0] for row in cursor.fetchall()}
        if len(kept) < len(held):
            cursor.execute(_STILL_WANTED, parameters)
            kept |= {row[0] for row in cursor.fetchall()}
    return {one.job.id for one in held} - kept


def requeue(job: ClaimedJob, *, error: str, delay_seconds: float, forgive: bool = False) -> bool:
    """Queue the job again after a delay. `forgive` doesn't count the attempt. False when it is no longer ours."""
    parameters: dict[str, Any] = {
        "id": job.id,
        "token": job.token,
        "error": error[:2000],
        "delay": delay_seconds,
        "forgive": int(forgive),
    }
    with connections["ops"].cursor() as cursor:
        cursor.execute(_GIVE_BACK, parameters)
        return bool(cursor.rowcount == 1)


def take_expired() -> list[ClaimedJob]:
    """Queue again what a dead worker held; return the jobs whose attempts are used up, for their lanes to fail.

    What another version of the product runs is left to it.
    """
    with transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute(_EXPIRED, {"known": [lane.name for lane in lanes()]})
        expired = [_claimed(row) for row in cursor.fetchall()]
        for job in expired:
            if not job.is_last_attempt:
                requeue(job, error="The worker that ran this died.", delay_seconds=0)
    return [job for job in expired if job.is_last_attempt]


def waiting_lanes() -> set[str]:
    """Lanes with work that is due now."""
    known = {lane.name for lane in lanes()}
    with connections["ops"].cursor() as cursor:
        cursor.execute(_WAITING)
        return {row[0] for row in cursor.fetchall()} & known


def _claimed(row: tuple[UUID, UUID, str, UUID, int, str, int, int]) -> ClaimedJob:
    job_id, organization_id, lane, subject_id, ordinal, key, token, attempts = row
    return ClaimedJob(
        id=job_id,
        organization_id=organization_id,
        lane=lane,
        subject_id=subject_id,
        ordinal=ordinal,
        key=key,
        token=token,
        attempt=attempts,
        max_attempts=lane_of(lane).max_attempts,
    )
