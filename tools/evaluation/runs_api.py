"""The API of evaluation runs."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from projects.api.authentication import caller_of
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Accepted, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope
from tools.evaluation.comparison import Change, ComparedResult, Comparison, RuleScore, compare
from tools.evaluation.runs import LONGEST_MODEL, MODEL_NAME, cancel_run, start_run
from tools.models import EvaluationRun, ResultState, RunState


class RunInput(StrictSerializer):
    """`model` is the name of a model at the project's endpoint; by default, the one that reads its replies."""

    model = serializers.RegexField(
        MODEL_NAME,
        max_length=LONGEST_MODEL,
        required=False,
        error_messages={"invalid": "must be the name of a model, without spaces."},
    )


class RunPayload(TypedDict):
    id: Id
    number: int
    model: str
    state: Annotated[str, RunState]
    reason: Annotated[str | None, "Why the run was canceled, unless a person did so."]
    started_by: str
    created_at: Stamp
    finished_at: Stamp | None


class CaseResultPayload(TypedDict):
    """A case in the run. `outcomes` maps each mentioned tool to `fired` or to the rule that held it back."""

    case: Id
    name: str
    state: Annotated[str, ResultState]
    change: Annotated[str, Change]
    expected: dict[str, str]
    outcomes: dict[str, str]
    error: str | None


class RuleScorePayload(TypedDict):
    """The number of labels with this outcome, and how many were read so; `before` is that number in `compared_with`."""

    outcome: str
    labels: int
    passed: int
    before: int | None


class RunDetailPayload(RunPayload):
    """A run beside the last finished one before it. Cases that fail newly come first."""

    compared_with: Id | None
    results: list[CaseResultPayload]
    rules: list[RuleScorePayload]


class EvaluationRuns(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="evaluation_runs_list")
    def get(self, request: Request) -> TypedResponse[Page[RunPayload]]:
        """List the runs of the regression cases, newest first."""
        return self.page(EvaluationRun.objects.filter(project=self.project), run_payload)

    @extend_schema(operation_id="evaluation_runs_create", request=RunInput)
    @idempotent
    def post(self, request: Request) -> Accepted[RunPayload]:
        """Run all regression cases with a model. A project has one run at a time."""
        caller = caller_of(request)
        by = caller.name if caller else ""
        return Accepted(run_payload(start_run(self.project, by=by, **self.valid(RunInput))))


class EvaluationRunDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="evaluation_runs_read")
    def get(self, request: Request, run_id: UUID) -> TypedResponse[RunDetailPayload]:
        """A run with the result of each case and the score of each rule, beside the run before."""
        run = EvaluationRun.objects.filter(project=self.project, pk=run_id).first()
        if run is None:
            raise Http404
        return TypedResponse(run_detail_payload(compare(run)))


class CancelEvaluationRun(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="evaluation_runs_cancel", request=None)
    def post(self, request: Request, run_id: UUID) -> TypedResponse[RunPayload]:
        """Cancel a run. Cases that wait are skipped, and model calls under way are canceled."""
        try:
            return TypedResponse(run_payload(cancel_run(self.project, run_id)))
        except EvaluationRun.DoesNotExist as error:
            raise Http404 from error


def run_payload(run: EvaluationRun) -> RunPayload:
    return {
        "id": str(run.pk),
        "number": run.number,
        "model": run.model,
        "state": run.state,
        "reason": run.reason or None,
        "started_by": run.started_by,
        "created_at": stamp(run.created_at),
        "finished_at": stamp(run.finished_at),
    }


def run_detail_payload(comparison: Comparison) -> RunDetailPayload:
    return {
        **run_payload(comparison.run),
        "compared_with": str(comparison.previous.pk) if comparison.previous else None,
        "results": [_result_payload(one) for one in comparison.results],
        "rules": [_rule_payload(one) for one in comparison.rules],
    }


def _result_payload(one: ComparedResult) -> CaseResultPayload:
    result = one.result
    return {
        "case": str(result.case_id),
        "name": result.case.name,
        "state": result.state,
        "change": one.change.value,
        "expected": result.case.expected,
        "outcomes": result.outcomes,
        "error": result.error or None,
    }


def _rule_payload(one: RuleScore) -> RuleScorePayload:
    return {"outcome": one.outcome, "labels": one.labels, "passed": one.passed, "before": one.before}
