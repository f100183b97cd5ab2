"""Effects: what a fired tool does, once, as the ledger says (design section 3, N44)."""

from __future__ import annotations

from conversations.log import open_log
from conversations.models.event import EventType
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.fence import job_tx
from jobs.models import State
from projects.threads import in_db
from tools.ledger import begin_sending, mark_done, mark_failed
from tools.models import Effect
from tools.presenters import effect_payload


async def run_effect(job: ClaimedJob) -> None:
    """Carry out one planned effect. Its action is the system event of the tool's name, in the conversation's log."""
    if await in_db(_begin, job):
        crash_point("effect.sending_pre_bytes")
        await in_db(_send_event, job)


def _begin(job: ClaimedJob) -> bool:
    """Commit that it begins. An effect that is over already only ends the job."""
    with job_tx(job):
        begins = begin_sending(job.subject_id)
    if not begins:
        with job_tx(job, finish=State.SKIPPED, error="The effect was over already."):
            pass
    return begins


def _send_event(job: ClaimedJob) -> None:
    """The event and the effect's end are one transaction, so that a crash leaves neither or both."""
    with job_tx(job, finish=State.DONE):
        effect = Effect.objects.get(pk=job.subject_id)
        if effect.conversation_id is None:
            raise ValueError("An effect that sends an event belongs to a conversation.")
        with open_log(effect.conversation_id) as log:
            event = log.add_event(effect.tool, payload={"effect": str(effect.pk), "arguments": effect.arguments})
            if mark_done(effect.pk, result={"event": event.seq}):
                effect.refresh_from_db()
                log.add_event("effect_done", payload=effect_payload(effect), type=EventType.EFFECT)


def give_up_effect(job: ClaimedJob, reason: str) -> None:
    """The event could not be written for good: it certainly did not happen."""
    mark_failed(job.subject_id, reason=reason)
