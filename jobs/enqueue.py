"""Creating jobs, in the transaction of the fact that causes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from uuid import UUID

from django.db import transaction

from jobs import hints
from jobs.lanes import Mode, lane_of
from projects.ids import uuid7
from projects.postgresql.prepared import Prepared
from projects.tenancy import current_organization_id

# A tenant's n-th waiting job of a lane is due n steps later than its first: a flood waits behind its own tenant,
# nobody else's, and is forgotten when it ends. The count is capped, so that a flood costs no long scan either.
FAIR_STEP_SECONDS = 0.2
FAIR_CAP = 300
# After so many interruptions in a row the running job may finish: an interrupt lane never starves (M8).
PATIENCE = 3
# More than anyone is ever interrupted, and what a smallint holds.
NO_PATIENCE = 32_000

_INSERT = """
insert into jobs_job (id, organization_id, project_id, lane, subject_id, ordinal, key, state, fair_at, run_after, token, attempts,
                      interruptions, error, created_at)
select r.id, %s::uuid, r.project_id, r.lane, r.subject_id, r.ordinal, r.key, 'queued',
       coalesce(r.fair_at, clock_timestamp() + {step} * interval '1 second' * (
           select count(*) from (select 1 from jobs_job q where q.organization_id = %s::uuid and q.lane = r.lane
                                 and q.state = 'queued' limit {cap}) flood)),
       coalesce(r.run_after, clock_timestamp()), 0, 0, r.interruptions, '', clock_timestamp()
from (values {rows}) as r(id, project_id, lane, subject_id, ordinal, key, fair_at, run_after, interruptions)
on conflict (organization_id, key) do nothing
returning id
"""

_ROW = "(%s::uuid, %s::uuid, %s::text, %s::uuid, %s::int, %s::text, %s::timestamptz, %s::timestamptz, %s::int)"

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


@dataclass(frozen=True)
class JobRequest:
    """A job to be. `key` is unique in the organization: asking twice makes one job. It may take the place of others."""

    lane: str
    project_id: UUID
    subject_id: UUID
    ordinal: int
    key: str
    run_after: datetime | None = None
    in_place_of: Superseded | None = None
    id: UUID = field(default_factory=uuid7)


def enqueue(requests: Sequence[JobRequest]) -> list[UUID]:
    """Queue jobs in the running transaction; workers are hinted at when it commits.

    A job of an interrupt lane supersedes older ones of its subject first, and cancels their model calls.
    Returns the ids of the jobs made; those whose key exists already are left out.
    """
    places = [_place_of(request) for request in requests]
    organization = current_organization_id()
    rows = [
        value
        for request, place in zip(requests, places, strict=True)
        for value in (
            request.id,
            request.project_id,
            request.lane,
            request.subject_id,
            request.ordinal,
            request.key,
            place.fair_at,
            request.run_after,
            place.interruptions,
        )
    ]
    made = [job_id for (job_id,) in _insert_statement(len(requests))(organization, organization, *rows)]
    transaction.on_commit(partial(hints.hint, sorted({request.lane for request in requests})))
    return made


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
        transaction.on_commit(partial(hints.cancel, cancelled))
    return Superseded(
        ordinals=tuple(ordinal for _, ordinal, *_ in ended),
        fair_at=min((fair_at for *_, fair_at in ended), default=None),
        interruptions=max((count + was_running for _, _, was_running, count, _ in ended), default=0),
    )


def _place_of(request: JobRequest) -> Superseded:
    if request.in_place_of is not None:
        return request.in_place_of
    if lane_of(request.lane).mode is Mode.QUEUE:
        return Superseded()
    return supersede(
        lane=request.lane,
        subject_id=request.subject_id,
        before=request.ordinal,
        reason="Superseded by a newer turn.",
    )
