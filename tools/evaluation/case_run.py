"""The lane that runs a kept case: ask the model what the answer commits to, and compare with what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

from django.db.models.functions import Now

from jobs.errors import WrongState
from jobs.failpoints import failpoint
from jobs.fence import job_tx, prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.model_client import call_rows, model_client
from jobs.models import ModelCall, State
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.agents.model_choice import endpoint_of
from projects.models import AgentVersion, Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.catalogue import CompiledTool, at_moment, compile_tools
from tools.engine.definition import Trigger
from tools.engine.limits.model_budget import find_spent_budget, is_checked
from tools.evaluation.cases import Case
from tools.evaluation.kept import as_case
from tools.evaluation.reader import read_case
from tools.evaluation.runs import LANE, OVER, lock_run, settle, stop_run
from tools.evaluation.score import CaseReading
from tools.models import CaseResult, ResultState, RunState

# Model calls at once, per worker process.
SLOTS = 8
OUTDATED = "The run is over, or the case was deleted."


@dataclass(frozen=True)
class CaseRun:
    """The input of one case’s run."""

    project_id: UUID
    case: Case
    tools: Sequence[CompiledTool]
    model: ModelSpec


def case_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_case,
        deadline=timedelta(seconds=120),
        max_attempts=4,
        slots=SLOTS,
        lock=_lock,
        on_failed=fail_case,
        on_run_again=refuse_run_again,
    )


async def run_case(job: ClaimedJob) -> None:
    """Run one case. A model that doesn't answer is asked again in a later attempt; the last one stores its error."""
    run = await in_db(_load, job)
    if run is None:
        return
    records: list[CallRecord] = []
    try:
        reading = await read_case(
            run.case, client=model_client(), model=run.model, tools=run.tools, record=records.append
        )
    except LlmError as error:
        if error.retryable and not job.is_last_attempt:
            await in_db(_store_calls, job, run, records)
            raise
        reading = CaseReading(case=run.case, outcomes={}, error=str(error) or error.code)
    failpoint("lane.llm_done_pre_commit")
    await in_db(_record, job, run, reading, records)
    failpoint("lane.committed")


def fail_case(job: ClaimedJob, reason: str) -> None:
    """Store a failed job's reason as the case's error. The run is locked."""
    _write_result(job, ResultState.ERROR, error=reason)


def refuse_run_again(subject_id: UUID, ordinal: int) -> None:
    """A case isn't run again by itself: its run is over."""
    raise WrongState(OVER)


def _load(job: ClaimedJob) -> CaseRun | None:
    """The case with its tools and model; None, with the job ended, if the run is over or the budget is spent."""
    with tenant_tx(job.organization_id):
        row = (
            CaseResult.objects.filter(pk=job.subject_id, state=ResultState.WAITING)
            .select_related("run", "case")
            .first()
        )
        if row is None or row.run.state != RunState.RUNNING:
            prove(job, finish=State.SKIPPED, error=OUTDATED)
            return None
        project = Project.objects.select_related("agent_version").get(pk=row.run.project_id)
        if not is_checked(project.pk) and (reason := find_spent_budget(project)):
            _stop(job, reason)
            return None
        return _case_run(project, row)


def _case_run(project: Project, row: CaseResult) -> CaseRun:
    config = cast(AgentVersion, project.agent_version).config
    tools = at_moment(compile_tools(project, channel=row.case.channel), Trigger.COMMITMENT)
    model = ModelSpec(endpoint=endpoint_of(project, config), model=row.run.model)
    return CaseRun(project.pk, as_case(row.case), tools, model)


def _stop(job: ClaimedJob, reason: str) -> None:
    """End the whole run: no further case may be paid."""
    run = lock_run(job.subject_id)
    if run is not None and run.state == RunState.RUNNING:
        stop_run(run, reason=reason)


def _store_calls(job: ClaimedJob, run: CaseRun, records: Sequence[CallRecord]) -> None:
    """Store the calls of an attempt without an answer, which count to the budget."""
    with job_tx(job):
        ModelCall.objects.bulk_create(_rows(job, run, records))


def _record(job: ClaimedJob, run: CaseRun, reading: CaseReading, records: Sequence[CallRecord]) -> None:
    """Store the result, and end the run with its last case."""
    with tenant_tx(job.organization_id):
        lock_run(job.subject_id)
        prove(job, finish=State.DONE)
        ModelCall.objects.bulk_create(_rows(job, run, records))
        if reading.error:
            _write_result(job, ResultState.ERROR, error=reading.error)
        else:
            state = ResultState.PASSED if reading.is_right else ResultState.FAILED
            _write_result(job, state, outcomes=reading.outcomes)


def _write_result(
    job: ClaimedJob, state: ResultState, *, outcomes: Mapping[str, str] | None = None, error: str = ""
) -> None:
    rows = CaseResult.objects.filter(pk=job.subject_id, state=ResultState.WAITING)
    rows.update(state=state, outcomes=dict(outcomes or {}), error=error[:300], finished_at=Now())
    if run := lock_run(job.subject_id):
        settle(run)


def _rows(job: ClaimedJob, run: CaseRun, records: Sequence[CallRecord]) -> list[ModelCall]:
    return call_rows(records, project_id=run.project_id, job_id=job.id, subject_id=job.subject_id, turn_id=None)


def _lock(subject_id: UUID) -> None:
    lock_run(subject_id)
