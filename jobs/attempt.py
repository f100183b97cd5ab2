"""One attempt at a job, and what becomes of it."""

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
BROKE_OFF = "The database broke off in the middle of it."
FAULT = "A fault of this server ended it, not one of your settings; its log says more."
# Errors of our own, whose texts are sentences for staff; any other's text is a library's, for the log
SAID = (LlmError, OutboundError, ApiError)


async def attempt(job: ClaimedJob, lane: Lane) -> None:
    """Run the lane's handler. It finishes the job itself, in the transaction of its result; this handles every other end."""
    failpoint("turn.claimed" if job.lane == "reply" else "lane.claimed")
    try:
        async with asyncio.timeout(lane.deadline.total_seconds()):
            await lane.handler(job)
    except asyncio.CancelledError:
        log.info("%s %s was cancelled.", job.lane, job.id)
    except LeaseLost:
        log.info("%s %s is another worker's by now; nothing was written.", job.lane, job.id)
    except GiveUp as error:
        await _settle(job, reason=str(error), final=True)
    except Exception as error:  # the worker's edge: any bug of a handler becomes a row that staff can see
        log.exception("%s %s failed, attempt %d of %d.", job.lane, job.id, job.attempt, job.max_attempts)
        await _settle(job, reason=_reason(error), final=job.is_last_attempt)


async def _settle(job: ClaimedJob, *, reason: str, final: bool) -> None:
    """Fail the job or queue it again. If even that can't be written, the lease runs out and the sweep does it."""
    try:
        if final:
            await in_db(fail_job, job, reason=reason)
        else:
            delay = FIRST_DELAY_SECONDS * 2 ** (job.attempt - 1)
            await in_db(claims.requeue, job, error=reason, delay_seconds=delay)
    except LeaseLost:
        log.info("%s %s found another end meanwhile.", job.lane, job.id)
    except DatabaseError as error:
        log.warning("The end of %s %s could not be written (%s).", job.lane, job.id, type(error).__name__)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "It took longer than its deadline."
    if isinstance(error, OperationalError | InterfaceError):
        return BROKE_OFF
    return str(error) if isinstance(error, SAID) else FAULT
