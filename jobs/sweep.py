"""The sweep: finds work whose hint was lost and work whose worker died. Any number may run; one at a time does."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import connections, transaction

from jobs import claims, wakeups
from jobs.claimed import ClaimedJob
from jobs.fence import Zombie
from jobs.services import fail_job
from projects.api.idempotency import delete_old_answers
from projects.common.session_cleanup import delete_old_sessions

log = logging.getLogger(__name__)

_LOCK = 0x6D616B65  # "make"

# What upper floors do in each sweep.
_hooks: list[Callable[[], None]] = []


def on_sweep(hook: Callable[[], None]) -> None:
    """Let an upper floor do its part of every sweep, in transactions of its own. Called once from an app's `ready`."""
    _hooks.append(hook)


def sweep() -> set[str]:
    """Queue again what dead workers held, hint at what waits, fail what is used up, fire timers, forget old answers and sessions.

    Returns the lanes that wait. The jobs come first: what goes wrong with the rest keeps none of them waiting.
    """
    with transaction.atomic(using="ops"):
        if not _is_mine():
            return set()
        used_up = claims.take_expired()
        waiting = claims.waiting_lanes()
    wakeups.hint(sorted(waiting))
    for job in used_up:
        _fail(job)
    for hook in _hooks:
        hook()
    delete_old_answers()
    delete_old_sessions()
    return waiting


def _fail(job: ClaimedJob) -> None:
    try:
        fail_job(job, reason=f"The worker that ran this died {job.attempt} times in a row.")
    except Zombie:
        log.info("Job %s found another end meanwhile.", job.id)
    except Exception:  # the worker's edge: a bug in what one job's failure brings about keeps no other from its end
        log.exception("Job %s could not be failed; the next sweep tries again.", job.id)


def _is_mine() -> bool:
    with connections["ops"].cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])
