"""One attempt at a job: its deadline, and the consequence of each kind of end."""

from __future__ import annotations

import asyncio
import logging

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError

from jobs import claims
from jobs.errors import GiveUp, Skip, TryLater
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost, job_tx
from jobs.job_telemetry import attempting
from jobs.lanes import ClaimedJob, Lane
from jobs.models import State
from jobs.outages import UNAVAILABLE, delay_for_model, delay_seconds, is_outage, until_stored
from jobs.services import fail_job
from llm.errors import LlmError
from outbound.errors import OutboundError
from outbound.tenant import on_behalf_of
from projects.common.api_error import ApiError
from telemetry.metrics import LEASES_LOST

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
    with on_behalf_of(job.organization_id), attempting(job):
        await _attempt(job, lane)


async def _attempt(job: ClaimedJob, lane: Lane) -> None:
    try:
        async with asyncio.timeout(lane.deadline.total_seconds()):
            await lane.handler(job)
    except asyncio.CancelledError:
        log.info("%s %s was cancelled.", job.lane, job.id)
    except LeaseLost:
        LEASES_LOST.inc(job.lane)
        log.info("%s %s now belongs to another worker; nothing was written.", job.lane, job.id)
    except Skip as why:
        await _record_skip(job, reason=str(why))
    except GiveUp as error:
        await _record_failure(job, reason=str(error), final=True)
    except TryLater as error:
        await _put_off(job, error)
    except Exception as error:  # the worker's boundary: a bug in a handler becomes a failure that staff can see
        if is_outage(error):
            log.warning("%s %s is put off: %s", job.lane, job.id, error)
            await _put_off(job, TryLater(UNAVAILABLE, delay_seconds=delay_seconds(claims=job.token)))
            return
        if (delay := await delay_for_model(job, error)) is not None:
            log.warning("%s %s waits for the model: %s", job.lane, job.id, error)
            await _put_off(job, TryLater(str(error), delay_seconds=delay))
            return
        log.exception("%s %s failed, attempt %d of %d.", job.lane, job.id, job.attempt, job.max_attempts)
        await _record_failure(job, reason=_reason(error), final=job.is_last_attempt)


async def _put_off(job: ClaimedJob, error: TryLater) -> None:
    """Queue the job again, as soon as the database takes it: an expired lease would count as an attempt."""
    try:
        await until_stored(claims.requeue, job, error=str(error), delay_seconds=error.delay_seconds, forgive=True)
    except DatabaseError as failure:
        log.warning("%s %s could not be put off (%s).", job.lane, job.id, type(failure).__name__)


async def _record_skip(job: ClaimedJob, *, reason: str) -> None:
    """End the job without a result, as soon as the database takes it. After another error, the sweep queues it again."""
    try:
        await until_stored(_skip, job, reason)
    except LeaseLost:
        log.info("%s %s ended elsewhere in the meantime.", job.lane, job.id)
    except DatabaseError as error:
        log.warning("The end of %s %s could not be stored (%s).", job.lane, job.id, type(error).__name__)


def _skip(job: ClaimedJob, reason: str) -> None:
    with job_tx(job, finish=State.SKIPPED, error=reason):
        pass


async def _record_failure(job: ClaimedJob, *, reason: str, final: bool) -> None:
    """Fail the job or requeue it, as soon as the database takes it. After another error, the sweep does it."""
    try:
        if final:
            await until_stored(fail_job, job, reason=reason)
        else:
            delay = FIRST_DELAY_SECONDS * 2 ** (job.attempt - 1)
            await until_stored(claims.requeue, job, error=reason, delay_seconds=delay)
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
