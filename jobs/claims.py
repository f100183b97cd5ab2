"""Claims jobs, renews their leases and requeues them. Uses mg_ops, because a worker claims for every tenant.

All times are those of the database's clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connections, transaction

from jobs.lanes import ClaimedJob, Lane, lane_of, lanes
from telemetry.metrics import LEASES_EXPIRED
from tenancy.postgresql.prepared import Prepared

# Due jobs of the same ordinal (effects) run oldest first. Claiming two at once would violate the unique index and undo
# the whole claim, again and again. A postponed job doesn't block the others.
# Lanes are literals, so that the statement has no parameters and is planned only once. With array parameters, planning
# took PostgreSQL twice as long as running. Only while a tenant is held back are there parameters: the array of such
# tenants of each lane.
_CLAIM = """
with due as (
    select j.id, l.lease from (values {lanes}) as l(name, lease, held_back)
    cross join lateral (
        select q.id from jobs_job q
        where q.lane = l.name and q.state = 'queued' and q.run_after <= clock_timestamp() {spared}
          and not exists (select 1 from jobs_job e where e.lane = q.lane and e.subject_id = q.subject_id
                          and e.state in ('queued', 'running') and (e.ordinal < q.ordinal or e.state = 'running'
                               or e.ordinal = q.ordinal and e.id < q.id and e.run_after <= clock_timestamp()))
        order by q.fair_at limit {limit} for update skip locked) j)
update jobs_job j set state = 'running', token = token + 1, attempts = attempts + 1, started_at = clock_timestamp(),
       lease_until = clock_timestamp() + due.lease * interval '1 second', error = ''
from due where j.id = due.id
returning j.id, j.organization_id, j.lane, j.subject_id, j.ordinal, j.key, j.token, j.attempts, j.trace
"""

# Skip locked jobs: either the worker is writing, which keeps the lease, or the job is being superseded. Waiting for one
# while holding locks on others could deadlock.
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
select id, organization_id, lane, subject_id, ordinal, key, token, attempts, trace from jobs_job
where state = 'running' and lease_until < clock_timestamp() and lane = any(%(known)s)
order by lease_until limit 200 for update skip locked
"""

_REQUEUE = """
update jobs_job set state = 'queued', lease_until = null, error = %(error)s, attempts = attempts - %(forgive)s,
       run_after = clock_timestamp() + %(delay)s * interval '1 second'
where id = %(id)s and token = %(token)s and state = 'running'
"""

# Lanes with work that is due
_WAITING = "select distinct lane from jobs_job where state = 'queued' and run_after <= clock_timestamp()"


_WITH_OWN_MODEL = """
select distinct organization_id from (
    select distinct on (v.project_id) v.organization_id, v.document ->> 'model_base_url' as url
    from projects_agentversion v where v.organization_id = any(%(organizations)s)
    order by v.project_id, v.number desc) latest
where url <> ''
"""


@dataclass(frozen=True)
class HeldJob:
    """A job that this process runs, with its lane's lease in seconds."""

    job: ClaimedJob
    lease_seconds: float


def claim(
    wanted: Sequence[Lane], *, limit: int, held_back: Mapping[str, frozenset[UUID]] | None = None
) -> list[ClaimedJob]:
    """Claim up to `limit` due jobs of each lane, in fair order. At most one per subject, its oldest.

    Jobs of the tenants that `held_back` names for a lane stay queued.
    """
    held_back = held_back or {}
    leases = tuple((lane.name, lane.lease_seconds) for lane in wanted)
    values = [_uuid_array(held_back.get(lane.name, frozenset())) for lane in wanted] if held_back else []
    statement = _claim_statement(leases, limit, holds_back=bool(held_back))
    try:
        return [_claimed(row) for row in statement(*values)]
    except IntegrityError:
        # Another worker claimed a job of the same subject, and the index refused this claim. The next wakeup takes the
        # rest.
        return []


@cache
def _claim_statement(wanted: tuple[tuple[str, float], ...], limit: int, *, holds_back: bool) -> Prepared:
    """The claim statement for these lanes, given as names and leases in seconds."""
    held_back = "%s::uuid[]" if holds_back else "null::uuid[]"
    lanes = ", ".join(f"('{name}', {lease:f}::float8, {held_back})" for name, lease in wanted)
    spared = "and q.organization_id <> all(l.held_back)" if holds_back else ""
    return Prepared(_CLAIM.format(lanes=lanes, limit=limit, spared=spared), using="ops")


def _uuid_array(values: frozenset[UUID]) -> str:
    """A PostgreSQL array."""
    return "{" + ",".join(map(str, values)) + "}"


def with_own_model(organizations: Sequence[UUID]) -> set[UUID]:
    """The organizations, of these, with a project that uses its own model endpoint."""
    with connections["ops"].cursor() as cursor:
        cursor.execute(_WITH_OWN_MODEL, {"organizations": list(organizations)})
        return {row[0] for row in cursor.fetchall()}


def heartbeat(held: Sequence[HeldJob]) -> set[UUID]:
    """Renew the leases. Returns the ids of jobs that were superseded or taken over, which must stop."""
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
    """Requeue the job after a delay. Returns False if the job belongs to another worker.

    With `forgive`, the attempt doesn't count.
    """
    parameters: dict[str, Any] = {
        "id": job.id,
        "token": job.token,
        "error": error[:2000],
        "delay": delay_seconds,
        "forgive": int(forgive),
    }
    with connections["ops"].cursor() as cursor:
        cursor.execute(_REQUEUE, parameters)
        return bool(cursor.rowcount == 1)


def take_expired() -> list[ClaimedJob]:
    """Requeue the jobs of dead workers. Returns those without attempts left, for their lanes to fail.

    Lanes that this version doesn't know are left alone.
    """
    with transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute(_EXPIRED, {"known": [lane.name for lane in lanes()]})
        expired = [_claimed(row) for row in cursor.fetchall()]
        for job in expired:
            LEASES_EXPIRED.inc(job.lane)
            if not job.is_last_attempt:
                requeue(job, error="The worker that ran this died.", delay_seconds=0)
    return [job for job in expired if job.is_last_attempt]


def waiting_lanes() -> set[str]:
    """Lanes with work that is due."""
    known = {lane.name for lane in lanes()}
    with connections["ops"].cursor() as cursor:
        cursor.execute(_WAITING)
        return {row[0] for row in cursor.fetchall()} & known


def _claimed(row: tuple[UUID, UUID, str, UUID, int, str, int, int, str | None]) -> ClaimedJob:
    job_id, organization_id, lane, subject_id, ordinal, key, token, attempts, trace = row
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
        trace=trace or "",
    )
