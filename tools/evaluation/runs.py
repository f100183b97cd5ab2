"""Runs of a project's kept cases: started, canceled and settled. Each case is a job of its own.

Locks are taken in the order run, job, result.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext

from jobs.enqueue import JobRequest, enqueue
from jobs.errors import WrongState
from jobs.services import supersede_all
from projects.agents.model_choice import model_for
from projects.models import Project
from tools.engine.limits.model_budget import find_spent_budget
from tools.models import CaseResult, EvaluationRun, KeptCase, ResultState, RunState

LANE = "evaluation"
# Model names at any provider: "gpt-4.1-mini", "meta-llama/llama-3.3:free", "@cf/qwen/qwen3".
MODEL_NAME = r"^[\w@][\w./:@+-]*$"
LONGEST_MODEL = 120
# Older runs are deleted.
MAX_RUNS = 50
# Jobs of one statement.
AT_ONCE = 50
NO_CASES = "There are no cases to run. Keep an answer as a case first."
OVER = "The run is over. Start a new one."


def cases_of(project: Project) -> QuerySet[KeptCase]:
    """The project's kept cases, oldest first."""
    return KeptCase.objects.filter(project=project, deleted_at=None)


def start_run(project: Project, *, model: str = "", by: str) -> EvaluationRun:
    """Queue a run of all kept cases with a model at the project's endpoint; without a name, with its own.

    A project has one run at a time: of two concurrent calls, one raises WrongState. So does a call without cases, or
    over the model budget.
    """
    project = (
        Project.objects.select_related("agent_version").select_for_update(no_key=True, of=("self",)).get(pk=project.pk)
    )
    cases = list(cases_of(project).values_list("pk", flat=True))
    _require_startable(project, cases)
    last = EvaluationRun.objects.filter(project=project).first()
    run = EvaluationRun.objects.create(
        project=project,
        number=last.number + 1 if last else 1,
        model=model or default_model_of(project),
        started_by=by,
    )
    results = CaseResult.objects.bulk_create([CaseResult(run=run, case_id=case) for case in cases])
    for start in range(0, len(results), AT_ONCE):
        enqueue([_job(run, result) for result in results[start : start + AT_ONCE]])
    _delete_old_runs(project)
    return run


def default_model_of(project: Project) -> str:
    """The model that reads the project's replies for promises."""
    version = project.agent_version
    return model_for(project, version.config, "detect").model if version else ""


def cancel_run(project: Project, run_id: UUID) -> EvaluationRun:
    """Cancel a run; its cases that wait are skipped, and model calls under way are canceled.

    Raises EvaluationRun.DoesNotExist, or WrongState unless it is running.
    """
    run = EvaluationRun.objects.select_for_update(no_key=True).get(project=project, pk=run_id)
    if run.state != RunState.RUNNING:
        raise WrongState(OVER)
    stop_run(run, reason="")
    return run


def stop_run(run: EvaluationRun, *, reason: str) -> None:
    """End a locked run early."""
    waiting = CaseResult.objects.filter(run=run, state=ResultState.WAITING)
    subjects = list(waiting.values_list("pk", flat=True))
    supersede_all(lane=LANE, subjects=subjects, reason=reason or "The run was canceled.")
    CaseResult.objects.filter(pk__in=subjects).update(state=ResultState.SKIPPED, finished_at=Now())
    _end(run, RunState.CANCELLED, reason=reason)


def lock_run(result_id: UUID) -> EvaluationRun | None:
    """Lock the run of a result; None if its case was deleted."""
    found = CaseResult.objects.filter(pk=result_id).values_list("run_id", flat=True).first()
    return EvaluationRun.objects.select_for_update(no_key=True).filter(pk=found).first() if found else None


def settle(run: EvaluationRun) -> None:
    """End a locked run once no case of it waits."""
    is_over = not CaseResult.objects.filter(run=run, state=ResultState.WAITING).exists()
    if run.state == RunState.RUNNING and is_over:
        _end(run, RunState.DONE)


def settle_without(project: Project, case_id: UUID) -> None:
    """Take a case that is being deleted out of the running run."""
    run = EvaluationRun.objects.select_for_update(no_key=True).filter(project=project, state=RunState.RUNNING).first()
    if run is None:
        return
    results = CaseResult.objects.filter(run=run, case_id=case_id)
    supersede_all(lane=LANE, subjects=list(results.values_list("pk", flat=True)), reason="The case was deleted.")
    results.delete()
    settle(run)


def _require_startable(project: Project, cases: Sequence[UUID]) -> None:
    """Raise WrongState if no run can start now."""
    if not cases:
        raise WrongState(NO_CASES)
    running = EvaluationRun.objects.filter(project=project, state=RunState.RUNNING).first()
    if running:
        raise WrongState(
            gettext("Run %(number)s is still running. Wait for it or cancel it first.") % {"number": running.number}
        )
    if reason := find_spent_budget(project):
        raise WrongState(reason)


def _job(run: EvaluationRun, result: CaseResult) -> JobRequest:
    return JobRequest(
        lane=LANE,
        project_id=run.project_id,
        subject_id=result.pk,
        ordinal=run.number,
        key=f"{LANE}:{result.pk}",
    )


def _end(run: EvaluationRun, state: RunState, *, reason: str = "") -> None:
    run.state, run.reason = state, reason[:300]
    EvaluationRun.objects.filter(pk=run.pk).update(state=run.state, reason=run.reason, finished_at=Now())
    run.refresh_from_db(fields=["finished_at"])


def _delete_old_runs(project: Project) -> None:
    old = EvaluationRun.objects.filter(project=project).values_list("pk", flat=True)[MAX_RUNS:]
    EvaluationRun.objects.filter(pk__in=list(old)).delete()
