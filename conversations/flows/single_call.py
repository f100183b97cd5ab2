"""What flows share that ask the model once and write its answer in one commit: the question, its calls, and nothing to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from pydantic import BaseModel

from conversations.live.model_calls import as_job_error
from jobs.failpoints import failpoint
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows, model_client
from jobs.models import ModelCall, State
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest
from tenancy.threads import in_db

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Calls:
    """The model calls of an attempt, until they are written."""

    job: ClaimedJob
    project_id: UUID
    turn_id: UUID | None = None
    records: list[CallRecord] = field(default_factory=list)

    def rows(self) -> Sequence[ModelCall]:
        """To be written in the commit of what they brought."""
        job = self.job
        return call_rows(
            self.records, project_id=self.project_id, job_id=job.id, subject_id=job.subject_id, turn_id=self.turn_id
        )

    def keep(self) -> None:
        """Write them alone: they brought nothing. Raises Zombie."""
        with job_tx(self.job):
            ModelCall.objects.bulk_create(self.rows())
        self.records.clear()


async def ask_once(request: ChatRequest, *, output: type[Output], calls: Calls) -> Output:
    """The answer; its calls are the caller's to write. Of a failure they are kept here.

    Raises LlmError where another attempt at the job may help, and GiveUp where none can.
    """
    try:
        answer = await model_client().structured(request, output=output, record=calls.records.append)
    except LlmError as error:
        await in_db(calls.keep)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    return answer


def skip(job: ClaimedJob, why: str) -> None:
    """End the job without a question. Raises Zombie."""
    with job_tx(job, finish=State.SKIPPED, error=why):
        pass
