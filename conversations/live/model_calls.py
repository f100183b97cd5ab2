"""Storage of a flow's model calls, including those of canceled and failed attempts."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.models import Turn
from jobs.errors import GiveUp
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows
from jobs.models import Job
from llm.errors import LlmError
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


def add_calls(writes: WriteBatch, job: ClaimedJob, turn: Turn, records: Sequence[CallRecord]) -> None:
    """Add a turn's model calls to a write batch. Needs the turn's conversation selected."""
    project_id = turn.conversation.project_id
    writes.insert(call_rows(records, project_id=project_id, job_id=job.id, subject_id=job.subject_id, turn_id=turn.pk))


def as_job_error(error: LlmError) -> Exception:
    """The exception a background flow raises for a failed call: retryable errors retry the job, others give up."""
    return error if error.retryable else GiveUp(str(error))
