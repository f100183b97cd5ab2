"""The nightly deletion: in each sweep a few small transactions, one at a time in the whole system.

The row of a project says which kind of record is being worked through and how far, so that any worker goes on where the
last one stopped.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import DatabaseError, connection, connections
from django.db.models.functions import Now

from jobs.failpoints import failpoint
from privacy.models import RetentionRun
from privacy.retention.batches import DELETIONS, Cursor
from privacy.retention.policy import policy_of
from projects.models import Project
from tenancy.personal_data import Kept
from tenancy.scope import tenant_tx
from tools.services.bookings.search import config_of

log = logging.getLogger(__name__)

_LOCK = 0x70727576  # "prun"
# The most that one sweep spends, so that the rest of its work isn't delayed.
SECONDS_PER_SWEEP = 1.0
NIGHT_HOUR = 3
# Seconds between two looks for projects without a row.
LOOK_SECONDS = 300.0
STAGES = tuple(Kept)
# A skipped conversation is looked at again the next night, when nothing in it is open any more.
STARTS_OVER = frozenset({Kept.TRANSCRIPTS})

_DUE = "select organization_id, id from privacy_retentionrun where due_at <= clock_timestamp() order by due_at limit 1"
_NEW = """
select p.organization_id, p.id from projects_project p
where not exists (select 1 from privacy_retentionrun r where r.organization_id = p.organization_id and r.project_id = p.id)
order by p.id limit 100
"""

_looked_at = 0.0


def delete_old_records() -> None:
    """Work through the projects that are due; a sweep hook."""
    _add_projects()
    ends_at = time.monotonic() + SECONDS_PER_SWEEP
    while time.monotonic() < ends_at and (due := _find_due()) is not None:
        if not _work(*due):
            return


def next_night(project: Project, now: datetime) -> datetime:
    """Three o'clock at night, in the business's time zone."""
    local = now.astimezone(ZoneInfo(config_of(project).timezone))
    tonight = local.replace(hour=NIGHT_HOUR, minute=0, second=0, microsecond=0)
    return (tonight if tonight > local else tonight + timedelta(days=1)).astimezone(UTC)


def _work(organization_id: UUID, run_id: UUID) -> bool:
    """Carry out one step, and commit it. False if another worker is at it, or if it failed: a later sweep tries again."""
    try:
        with tenant_tx(organization_id):
            if not _take_lock():
                return False
            run = RetentionRun.objects.select_related("project__agent_version").get(pk=run_id)
            if run.due_at > _now():
                return True
            _step(run)
            failpoint("retention.pre_commit")
    except Exception as error:  # the worker's boundary: one project's trouble must not stop the others
        log.exception("Old records of organization %s could not be deleted.", organization_id)
        _put_off(organization_id, run_id, error)
        return False
    failpoint("retention.step")
    return True


def _step(run: RetentionRun) -> None:
    """Delete one batch of the run's kind of record, or go on to the next kind."""
    now = _now()
    if run.started_at is None or run.finished_at is not None:
        run.started_at, run.finished_at, run.removed, run.stage = now, None, {}, STAGES[0]
    stage = Kept(run.stage)
    age = policy_of(run.project).age_of(stage)
    is_last = True
    if age is not None:
        batch = DELETIONS[stage](run.project_id, now - age, Cursor.read(run.cursors.get(stage)))
        is_last = batch.is_last
        run.cursors = {**run.cursors, stage: batch.cursor.as_json()}
        if batch.skipped is not None:
            run.cursors.setdefault(_first_skipped(stage), batch.skipped.as_json())
        run.removed = {**run.removed, stage: run.removed.get(stage, 0) + batch.removed}
    if is_last:
        _end_stage(run, stage, now=now)
    run.error = ""
    run.save()


def _end_stage(run: RetentionRun, stage: Kept, *, now: datetime) -> None:
    if stage in STARTS_OVER:
        run.cursors = {name: cursor for name, cursor in run.cursors.items() if name != stage}
    if skipped := run.cursors.pop(_first_skipped(stage), None):
        run.cursors[stage] = skipped
    following = STAGES.index(stage) + 1
    if following < len(STAGES):
        run.stage = STAGES[following]
    else:
        run.finished_at, run.due_at = now, next_night(run.project, now)


def _first_skipped(stage: Kept) -> str:
    """The key of the place from which the next night goes on, if a record was left for it."""
    return f"{stage} from"


def _put_off(organization_id: UUID, run_id: UUID, error: Exception) -> None:
    try:
        with tenant_tx(organization_id):
            later = Now() + timedelta(minutes=5)
            RetentionRun.objects.filter(pk=run_id).update(due_at=later, error=type(error).__name__)
    except DatabaseError:
        log.warning("The deletion of old records could not be put off.")


def _find_due() -> tuple[UUID, UUID] | None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_DUE)
        row = cursor.fetchone()
    return (row[0], row[1]) if row else None


def _add_projects() -> None:
    """Create the rows of new projects, once in a while."""
    global _looked_at
    if _looked_at and time.monotonic() - _looked_at < LOOK_SECONDS:
        return
    _looked_at = time.monotonic()
    with connections["ops"].cursor() as cursor:
        cursor.execute(_NEW)
        rows = cursor.fetchall()
    for organization_id, project_id in rows:
        with tenant_tx(organization_id):
            project = Project.objects.select_related("agent_version").filter(pk=project_id).first()
            if project is not None:
                due = next_night(project, _now())
                RetentionRun.objects.bulk_create([RetentionRun(project=project, due_at=due)], ignore_conflicts=True)


def _take_lock() -> bool:
    """One step at a time in the whole system, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def _now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
        return moment
