"""Helpers for flows that ask the model once and write its answer in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from pydantic import BaseModel

from conversations.live.model_calls import as_job_error
from jobs.errors import GiveUp
from jobs.failpoints import failpoint
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows, model_client
from jobs.models import ModelCall, State
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest
from tenancy.threads import in_db
from tools.engine.limits.model_budget import Share, require_budget

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class PendingCalls:
    """Model calls of one attempt, collected until they are stored."""

    job: ClaimedJob
    project_id: UUID
    turn_id: UUID | None = None
    records: list[CallRecord] = field(default_factory=list)

    def rows(self) -> Sequence[ModelCall]:
        """Rows to insert in the commit that uses the answer."""
        job = self.job
        return call_rows(
            self.records, project_id=self.project_id, job_id=job.id, subject_id=job.subject_id, turn_id=self.turn_id
        )

    def keep(self) -> None:
        """Store the calls alone, because no answer came. Raises LeaseLost."""
        with job_tx(self.job):
            ModelCall.objects.bulk_create(self.rows())
        self.records.clear()


async def ask_once(
    request: ChatRequest,
    *,
    output: type[Output],
    calls: PendingCalls,
    share: Share = Share.RESERVE,
    otherwise: type[Exception] = GiveUp,
) -> Output:
    """Return the model's answer; the caller stores the calls. On failure they are stored here.

    Raises LlmError if another attempt at the job may help, GiveUp if none can, and `otherwise` if this share of the
    model budget is spent.
    """
    await require_budget(calls.job.organization_id, calls.project_id, share, otherwise=otherwise)
    try:
        answer = await model_client().structured(request, output=output, record=calls.records.append)
    except LlmError as error:
        await in_db(calls.keep)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    return answer


def skip(job: ClaimedJob, why: str) -> None:
    """Finish the job without a model call. Raises LeaseLost."""
    with job_tx(job, finish=State.SKIPPED, error=why):
        pass
