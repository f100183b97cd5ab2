"""Creates jobs, in the transaction of the change that requires them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from uuid import UUID

from django.db import transaction

from jobs import wakeups
from jobs.lanes import Mode, lane_of
from telemetry.place import current_place
from tenancy.ids import uuid7
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id

# Fairness: a tenant's n-th waiting job of a lane is due n steps after its first, so a flood delays only its own tenant.
# The count is capped, so that a flood doesn't cause long scans.
FAIR_STEP_SECONDS = 0.2
FAIR_CAP = 300
# After this many interruptions in a row, the running job may finish, so that an interrupting lane makes progress.
MAX_INTERRUPTIONS = 3
# Above any real count, and within a smallint.
UNLIMITED_INTERRUPTIONS = 32_000

_INSERT = """
insert into jobs_job as j (id, organization_id, project_id, lane, subject_id, ordinal, key, state, fair_at, run_after, token,
                           attempts, interruptions, error, created_at, trace)
select r.id, %s::uuid, r.project_id, r.lane, r.subject_id, r.ordinal, r.key, 'queued',
       clock_timestamp() + {step} * interval '1 second' * (
           select count(*) from (select 1 from jobs_job q where q.organization_id = %s::uuid and q.lane = r.lane
                                 and q.state = 'queued' and q.token >= 0 limit {cap}) flood),
       coalesce(r.run_after, clock_timestamp()), 0, 0, 0, '', clock_timestamp(), %s::text
from (values {rows}) as r(id, project_id, lane, subject_id, ordinal, key, run_after)
on conflict (organization_id, key) do nothing
returning j.id, exists (select 1 from jobs_job o where o.lane = j.lane and o.subject_id = j.subject_id
                        and o.ordinal < j.ordinal and o.state in ('queued', 'running'))
"""

_ROW = "(%s::uuid, %s::uuid, %s::text, %s::uuid, %s::int, %s::text, %s::timestamptz)"

# The newer job inherits the place in the queue and the number of interruptions.
_INHERIT = Prepared("update jobs_job set fair_at = %s, interruptions = %s where id = %s")

_SUPERSEDE = Prepared("""
with old as (
    select id, state, interruptions, fair_at from jobs_job
    where organization_id = %s and lane = %s and subject_id = %s and ordinal < %s
      and state in ('queued', 'running') and not (state = 'running' and interruptions >= %s)
    for update)
update jobs_job j set state = 'superseded', finished_at = clock_timestamp(), error = %s
from old where j.id = old.id
returning j.id, j.ordinal, old.state = 'running', old.interruptions, old.fair_at
""")

# Jobs that were never claimed: a later attempt waits for a reason of its own.
_BRING_FORWARD = Prepared("""
update jobs_job set run_after = clock_timestamp()
where organization_id = %s and lane = %s and subject_id = %s and state = 'queued' and token = 0
  and run_after > clock_timestamp()
returning 1
""")


@dataclass(frozen=True)
class Superseded:
    """Jobs that a newer one superseded: their ordinals, and the values that the newer one inherits."""

    ordinals: tuple[int, ...] = ()
    fair_at: datetime | None = None
    interruptions: int = 0


NONE_SUPERSEDED = Superseded()


@dataclass(frozen=True)
class JobRequest:
    """A job to create. `key` is unique in the organization, so a repeated request creates no second job.

    `mode` overrides the mode of the lane.
    """

    lane: str
    project_id: UUID
    subject_id: UUID
    ordinal: int
    key: str
    run_after: datetime | None = None
    mode: Mode | None = None
    id: UUID = field(default_factory=uuid7)

    @property
    def interrupts(self) -> bool:
        return (self.mode or lane_of(self.lane).mode) is Mode.INTERRUPT


@dataclass(frozen=True)
class EnqueuedJob:
    """A created job, and the jobs that it superseded."""

    id: UUID
    superseded: Superseded = NONE_SUPERSEDED


def enqueue(requests: Sequence[JobRequest]) -> list[EnqueuedJob]:
    """Create jobs in the current transaction. Workers are hinted at commit.

    A job that interrupts supersedes the older jobs of its subject and cancels their model calls. Returns the created
    jobs, without those whose key already existed.
    """
    organization = current_organization_id()
    rows = [
        value
        for request in requests
        for value in (
            request.id,
            request.project_id,
            request.lane,
            request.subject_id,
            request.ordinal,
            request.key,
            request.run_after,
        )
    ]
    # The insert also reports whether an older job is live, which is rare, so that most jobs need no second statement.
    trace = current_place().trace or None
    follows = dict(_insert_statement(len(requests))(organization, organization, trace, *rows))
    transaction.on_commit(partial(wakeups.hint, sorted({request.lane for request in requests})))
    return [_enqueued(request, follows_on_another=follows[request.id]) for request in requests if request.id in follows]


def bring_forward(*, lane: str, subject_id: UUID) -> None:
    """Let a subject's postponed jobs run now, because what they waited for has happened."""
    if _BRING_FORWARD(current_organization_id(), lane, subject_id):
        transaction.on_commit(partial(wakeups.hint, [lane]))


def _enqueued(request: JobRequest, *, follows_on_another: bool) -> EnqueuedJob:
    if not (follows_on_another and request.interrupts):
        return EnqueuedJob(request.id)
    older = supersede(
        lane=request.lane,
        subject_id=request.subject_id,
        before=request.ordinal,
        reason="Superseded by a newer turn.",
    )
    if older.ordinals:
        _INHERIT(older.fair_at, older.interruptions, request.id)
    return EnqueuedJob(request.id, older)


@cache
def _insert_statement(count: int) -> Prepared:
    """The insert for `count` rows.

    Each count has its own text, which is planned once; an array would be planned each time.
    """
    return Prepared(_INSERT.format(rows=", ".join([_ROW] * count), step=FAIR_STEP_SECONDS, cap=FAIR_CAP))


def supersede(*, lane: str, subject_id: UUID, before: int, reason: str, spares_patient: bool = True) -> Superseded:
    """End a subject's live jobs older than `before`, and cancel their model calls at commit.

    With `spares_patient`, a running job that was interrupted MAX_INTERRUPTIONS times in a row is left to finish.
    """
    limit = MAX_INTERRUPTIONS if spares_patient else UNLIMITED_INTERRUPTIONS
    ended = _SUPERSEDE(current_organization_id(), lane, subject_id, before, limit, reason)
    cancelled = [str(job_id) for job_id, _, was_running, _, _ in ended if was_running]
    if cancelled:
        transaction.on_commit(partial(wakeups.cancel, cancelled))
    return Superseded(
        ordinals=tuple(ordinal for _, ordinal, *_ in ended),
        fair_at=min((fair_at for *_, fair_at in ended), default=None),
        interruptions=max((count + was_running for _, _, was_running, count, _ in ended), default=0),
    )
