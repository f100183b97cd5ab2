"""The keeper of a relayed call that nobody is connected to: it waits for the caller's connection, and ends the call."""

from __future__ import annotations

import asyncio

from conversations.calls.relay.store import PROVIDER, RelayedCall, finish
from conversations.models import OPEN_STATES, Call, CallState
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.threads import in_db

# Twilio tells us of a lost connection within seconds, and connects again.
WAIT_SECONDS = 15.0
NEVER_CONNECTED = "Twilio never connected the caller."
LOST = "The connection to the caller was lost."


def find_relayed(job: ClaimedJob) -> RelayedCall | None:
    """The job's call, if it is a relayed one."""
    with reading(job):
        row = Call.objects.filter(conversation_id=job.subject_id, provider=PROVIDER).first()
        return relayed(row) if row else None


def relayed(row: Call) -> RelayedCall:
    """The call with its places."""
    assert row.organization_id is not None
    return RelayedCall(row.organization_id, row.project_id, row.conversation_id, row.pk)


async def wait_for_caller(job: ClaimedJob, call: RelayedCall) -> None:
    """Wait until a process with the caller's connection takes the job. Nobody comes: the call has failed."""
    await asyncio.sleep(WAIT_SECONDS)
    state = await in_db(_state, job, call)
    if state in OPEN_STATES:
        reason = LOST if state == CallState.LIVE else NEVER_CONNECTED
        await in_db(finish, call, job, CallState.FAILED, reason=reason)
    else:
        await in_db(_close, job)


def _state(job: ClaimedJob, call: RelayedCall) -> str:
    with reading(job):
        return Call.objects.get(pk=call.call_id).state


def _close(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.DONE):
        pass
