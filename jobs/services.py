"""Changes to jobs by staff and workers."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from jobs import wakeups
from jobs.errors import WrongState
from jobs.fence import prove
from jobs.lanes import ClaimedJob, lane_of
from jobs.models import LIVE, Job, State
from projects.models import Project
from tenancy.scope import tenant_tx


def fail_job(job: ClaimedJob, *, reason: str) -> None:
    """Mark a job as failed and call its lane's `on_failed`. Raises LeaseLost."""
    lane = lane_of(job.lane)
    with tenant_tx(job.organization_id):
        if lane.lock is not None:
            lane.lock(job.subject_id)
        prove(job, finish=State.FAILED, error=reason)
        if lane.on_failed is not None:
            lane.on_failed(job, reason)


def supersede_all(*, lane: str, subjects: Collection[UUID], reason: str) -> None:
    """End the live jobs of a lane for these subjects, and cancel their model calls at commit."""
    rows = Job.objects.filter(lane=lane, subject_id__in=subjects, state__in=LIVE).order_by("pk")
    found = dict(rows.select_for_update(no_key=True).values_list("pk", "state"))
    Job.objects.filter(pk__in=found).update(state=State.SUPERSEDED, error=reason, finished_at=Now(), lease_until=None)
    if running := [str(pk) for pk, state in found.items() if state == State.RUNNING]:
        transaction.on_commit(partial(wakeups.cancel, running))


def run_again(project: Project, job_id: UUID) -> Job:
    """Queue a failed job again with fresh attempts. Raises Job.DoesNotExist, or WrongState unless it failed.

    If two people do so at once, one succeeds and the other gets WrongState. A refusal changes nothing, also if the
    caller catches it in the running transaction.
    """
    with transaction.atomic():
        return _run_again(Job.objects.get(project=project, pk=job_id))


def _run_again(job: Job) -> Job:
    lane = lane_of(job.lane)
    if lane.lock is not None:
        lane.lock(job.subject_id)
    changed = Job.objects.filter(pk=job.pk, state=State.FAILED).update(
        state=State.QUEUED, attempts=0, error="", run_after=Now(), fair_at=Now(), finished_at=None, started_at=None
    )
    if changed != 1:
        raise WrongState(f"Only a failed job can run again; this one is {State(job.state).value}.")
    if lane.on_run_again is not None:
        lane.on_run_again(job.subject_id, job.ordinal)
    transaction.on_commit(partial(wakeups.hint, [job.lane]))
    job.refresh_from_db()
    return job
