"""Creating jobs, in the transaction of the fact that causes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from uuid import UUID

from django.db import transaction

from jobs import wakeups
from jobs.lanes import Mode, lane_of
from tenancy.ids import uuid7
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id

# A tenant's n-th waiting job of a lane is due n steps later than its first: a flood waits behind its own tenant,
# nobody else's, and is forgotten when it ends. The count is capped, so that a flood costs no long scan either.
FAIR_STEP_SECONDS = 0.2
FAIR_CAP = 300
# After this many interruptions in a row the running job may finish, so that an interrupt lane never starves.
PATIENCE = 3
# More than anyone is ever interrupted, and what a smallint holds.
NO_PATIENCE = 32_000

_INSERT = """
insert into jobs_job as j (id, organization_id, project_id, lane, subject_id, ordinal, key, state, fair_at, run_after, token,
                           attempts, interruptions, error, created_at)
select r.id, %s::uuid, r.project_id, r.lane, r.subject_id, r.ordinal, r.key, 'queued',
       clock_timestamp() + {step} * interval '1 second' * (
           select count(*) from (select 1 from jobs_job q where q.organization_id = %s::uuid and q.lane = r.lane
                                 and q.state = 'queued' and q.token >= 0 limit {cap}) flood),
       coalesce(r.run_after, clock_timestamp()), 0, 0, 0, '', clock_timestamp()
from (values {rows}) as r(id, project_id, lane, subject_id, ordinal, key, run_after)
on conflict (organization_id, key) do nothing
returning j.id, exists (select 1 from jobs_job o where o.lane = j.lane and o.subject_id = j.subject_id
                        and o.ordinal < j.ordinal and o.state in ('queued', 'running'))
"""

_ROW = "(%s::uuid, %s::uuid, %s::text, %s::uuid, %s::int, %s::text, %s::timestamptz)"

# The place in the queue, and the patience that it has been shown, go on to the newer one.
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


@dataclass(frozen=True)
class Superseded:
    """Jobs that were ended by a newer one: their ordinals, and what the newer one inherits."""

    ordinals: tuple[int, ...] = ()
    fair_at: datetime | None = None
    interruptions: int = 0


NOTHING = Superseded()


@dataclass(frozen=True)
class JobRequest:
    """A job to be. `key` is unique in the organization: asking twice makes one job.

    `mode` is what it does to older jobs of its subject, where it isn't what its lane does.
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
class Made:
    """A job that was queued, and the older ones whose place it takes."""

    id: UUID
    in_place_of: Superseded = NOTHING


def enqueue(requests: Sequence[JobRequest]) -> list[Made]:
    """Queue jobs in the running transaction; workers are hinted at when it commits.

    One that interrupts supersedes the older ones of its subject, and cancels their model calls.
    Returns the jobs made; those whose key exists already are left out.
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
    # Most follow on nothing: whether anything older is alive comes with their own insertion, and is rarely looked into.
    follows = dict(_insert_statement(len(requests))(organization, organization, *rows))
    transaction.on_commit(partial(wakeups.hint, sorted({request.lane for request in requests})))
    return [_made(request, follows_on_another=follows[request.id]) for request in requests if request.id in follows]


def _made(request: JobRequest, *, follows_on_another: bool) -> Made:
    if not (follows_on_another and request.interrupts):
        return Made(request.id)
    older = supersede(
        lane=request.lane,
        subject_id=request.subject_id,
        before=request.ordinal,
        reason="Superseded by a newer turn.",
    )
    if older.ordinals:
        _INHERIT(older.fair_at, older.interruptions, request.id)
    return Made(request.id, older)


@cache
def _insert_statement(count: int) -> Prepared:
    """As many rows stand in the text as are made: one text for each number is planned once, an array's anew each time."""
    return Prepared(_INSERT.format(rows=", ".join([_ROW] * count), step=FAIR_STEP_SECONDS, cap=FAIR_CAP))


def supersede(*, lane: str, subject_id: UUID, before: int, reason: str, spares_patient: bool = True) -> Superseded:
    """End a subject's live jobs of a lane that are older than `before`, and cancel their model calls on commit.

    One that runs after PATIENCE interruptions in a row is left to finish, unless nothing may be left: `spares_patient`.
    """
    patience = PATIENCE if spares_patient else NO_PATIENCE
    ended = _SUPERSEDE(current_organization_id(), lane, subject_id, before, patience, reason)
    cancelled = [str(job_id) for job_id, _, was_running, _, _ in ended if was_running]
    if cancelled:
        transaction.on_commit(partial(wakeups.cancel, cancelled))
    return Superseded(
        ordinals=tuple(ordinal for _, ordinal, *_ in ended),
        fair_at=min((fair_at for *_, fair_at in ended), default=None),
        interruptions=max((count + was_running for _, _, was_running, count, _ in ended), default=0),
    )
