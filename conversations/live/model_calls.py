"""Storage of a flow's model calls, including those of canceled and failed attempts."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from conversations.live.event_log import hold_conversation
from conversations.models import Turn
from jobs.errors import GiveUp
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows, without_content
from jobs.models import Job, ModelCall
from llm.errors import DeadlineExceeded, LlmError
from llm.types import CallRecord
from tenancy.scope import tenant_tx
from tenancy.write_batch import WriteBatch


def store_calls(job: ClaimedJob, turn: Turn, records: Sequence[CallRecord]) -> None:
    """Store the calls of a failed attempt, unless another worker has claimed the job since."""
    with tenant_tx(job.organization_id):
        if records and Job.objects.select_for_update().filter(pk=job.id, token=job.token).exists():
            writes = WriteBatch()
            add_calls(writes, job, turn, records)
            writes.send()


def store_calls_about(
    organization_id: UUID, project_id: UUID, records: Sequence[CallRecord], *, conversation_id: UUID | None
) -> None:
    """Store calls without a turn, in a transaction of their own: those that staff made, and those of live calls.

    If their conversation was deleted meanwhile, only tokens and cost are stored.
    """
    with tenant_tx(organization_id):
        rows = call_rows(records, project_id=project_id, job_id=None, subject_id=conversation_id, turn_id=None)
        if conversation_id is not None and not hold_conversation(conversation_id):
            rows = [without_content(row) for row in rows]
        ModelCall.objects.bulk_create(rows)


def add_calls(writes: WriteBatch, job: ClaimedJob, turn: Turn, records: Sequence[CallRecord]) -> None:
    """Add a turn's model calls to a write batch. Needs the turn's conversation selected."""
    project_id = turn.conversation.project_id
    writes.insert(call_rows(records, project_id=project_id, job_id=job.id, subject_id=job.subject_id, turn_id=turn.pk))


def as_job_error(error: LlmError) -> Exception:
    """The exception a background flow raises for a failed call.

    The job is retried after an error that may pass, such as a call that hung. Nobody waits for it. After others, it
    gives up.
    """
    may_pass = error.retryable or isinstance(error, DeadlineExceeded)
    return error if may_pass else GiveUp(str(error))
