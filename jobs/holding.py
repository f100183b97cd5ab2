"""Jobs that a process holds because it has the connection they are about: a lease and a token as in a worker."""

from __future__ import annotations

import asyncio
import logging
from uuid import UUID

from django.db import Error as DatabaseError

from jobs import claims
from jobs.claims import HeldJob
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob, lane_of
from tenancy.postgresql.prepared import Prepared
from tenancy.threads import in_db

log = logging.getLogger(__name__)

_TAKE = Prepared("""
update jobs_job set state = 'running', token = token + 1, attempts = attempts + 1, started_at = clock_timestamp(),
       lease_until = clock_timestamp() + %s::float8 * interval '1 second', error = ''
where lane = %s and subject_id = %s and state in ('queued', 'running')
returning id, organization_id, ordinal, key, token, attempts, trace
""")


def take_job(lane: str, subject_id: UUID) -> ClaimedJob | None:
    """Take the live job of a subject over, from a worker or another process that holds it; None if it has ended.

    The previous holder can't write any more. The caller has locked the subject, whose lane has one job for each subject.
    """
    taken = _TAKE(lane_of(lane).lease_seconds, lane, subject_id)
    if not taken:
        return None
    [(job_id, organization_id, ordinal, key, token, attempts, trace)] = taken
    most = lane_of(lane).max_attempts
    return ClaimedJob(
        job_id, organization_id, lane, subject_id, ordinal, key, token, attempts, max_attempts=most, trace=trace or ""
    )


async def keep_lease(job: ClaimedJob) -> None:
    """Renew the lease until somebody else takes the job. Raises LeaseLost."""
    held = HeldJob(job, lane_of(job.lane).lease_seconds)
    while True:
        await asyncio.sleep(held.lease_seconds / 3)
        try:
            lost = await in_db(claims.heartbeat, [held])
        except DatabaseError as error:
            log.warning("The lease of %s %s could not be renewed (%s).", job.lane, job.id, type(error).__name__)
            continue
        if lost:
            raise LeaseLost(LeaseLost.__doc__)


async def give_back(job: ClaimedJob) -> None:
    """Queue the job for the workers, because the connection is gone."""
    await in_db(claims.requeue, job, error="", delay_seconds=0, forgive=True)
