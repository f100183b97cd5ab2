"""The sweep: recovers jobs with lost hints or dead workers. Every worker runs it; a lock lets one run at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import connections, transaction

from jobs import claims, wakeups
from jobs.clock import DatabaseClock
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob
from jobs.services import fail_job
from projects.api.idempotency import delete_old_responses
from projects.common.hooks import Signal
from projects.common.session_cleanup import delete_old_sessions
from tenancy.scope import tenant_tx

log = logging.getLogger(__name__)

_LOCK = 0x6D616B65  # "make"

_clock = DatabaseClock()
# Sent in each sweep, outside a transaction.
sweeping: Signal[[]] = Signal()


def sweep() -> set[str]:
    """Requeue expired jobs, hint waiting lanes, fail jobs without attempts left, run hooks, delete old data.

    Returns the lanes with due work. Jobs come first, so that an error in the rest doesn't delay them.
    """
    with transaction.atomic(using="ops"):
        if not _take_lock():
            return set()
        _clock.read()
        used_up = claims.take_expired() if _clock.leases_count else []
        waiting = claims.waiting_lanes()
    wakeups.hint(sorted(waiting))
    for job in used_up:
        _fail(job)
    sweeping.send()
    delete_old_responses()
    delete_old_sessions()
    return waiting


def sweep_tenants(sql: str, act: Callable[..., None], *, failed: str) -> None:
    """Call `act` for each row of a query over all tenants, in a transaction of the row's tenant.

    A row consists of the organization's id and the arguments of `act`. An error is logged as `failed` with the row, and
    the next row follows.
    """
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql)
        rows = cursor.fetchall()
    for organization_id, *subject in rows:
        try:
            with tenant_tx(organization_id):
                act(*subject)
        except Exception:  # the worker's boundary: an error must not affect other rows
            log.exception("%s: organization %s, %s.", failed, organization_id, ", ".join(map(str, subject)) or "all")


def _fail(job: ClaimedJob) -> None:
    try:
        fail_job(job, reason=f"The worker that ran this died {job.attempt} times in a row.")
    except LeaseLost:
        log.info("Job %s ended elsewhere in the meantime.", job.id)
    except Exception:  # the worker's boundary: a bug in one job's `on_failed` must not affect other jobs
        log.exception("Job %s could not be marked as failed; the next sweep tries again.", job.id)


def _take_lock() -> bool:
    with connections["ops"].cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])
