"""One attempt at a job, and the handling of its failure."""

from __future__ import annotations

import asyncio
import logging

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError

from jobs import claims
from jobs.errors import GiveUp
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob, Lane
from jobs.services import fail_job
from llm.errors import LlmError
from outbound.errors import OutboundError
from projects.common.api_error import ApiError
from tenancy.threads import in_db

log = logging.getLogger(__name__)

FIRST_DELAY_SECONDS = 0.5
BROKE_OFF = "The connection to the database was lost."
FAULT = "An internal error occurred, not caused by your settings. See the server's log."
# Errors whose messages are written for staff. Any other message comes from a library and goes to the log only
OWN_ERRORS = (LlmError, OutboundError, ApiError)


async def attempt(job: ClaimedJob, lane: Lane) -> None:
    """Run the lane's handler.

    The handler finishes the job in the transaction of its result. Every other outcome is handled here.
    """
    failpoint("turn.claimed" if job.lane == "reply" else "lane.claimed")
    try:
        async with asyncio.timeout(lane.deadline.total_seconds()):
            await lane.handler(job)
    except asyncio.CancelledError:
        log.info("%s %s was cancelled.", job.lane, job.id)
    except LeaseLost:
        log.info("%s %s now belongs to another worker; nothing was written.", job.lane, job.id)
    except GiveUp as error:
        await _record_failure(job, reason=str(error), final=True)
    except Exception as error:  # the worker's boundary: a bug in a handler becomes a failure that staff can see
        log.exception("%s %s failed, attempt %d of %d.", job.lane, job.id, job.attempt, job.max_attempts)
        await _record_failure(job, reason=_reason(error), final=job.is_last_attempt)


async def _record_failure(job: ClaimedJob, *, reason: str, final: bool) -> None:
    """Fail the job or requeue it. If the database is unavailable, the lease expires and the sweep does it."""
    try:
        if final:
            await in_db(fail_job, job, reason=reason)
        else:
            delay = FIRST_DELAY_SECONDS * 2 ** (job.attempt - 1)
            await in_db(claims.requeue, job, error=reason, delay_seconds=delay)
    except LeaseLost:
        log.info("%s %s ended elsewhere in the meantime.", job.lane, job.id)
    except DatabaseError as error:
        log.warning("The failure of %s %s could not be stored (%s).", job.lane, job.id, type(error).__name__)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "The attempt exceeded its deadline."
    if isinstance(error, OperationalError | InterfaceError):
        return BROKE_OFF
    return str(error) if isinstance(error, OWN_ERRORS) else FAULT
