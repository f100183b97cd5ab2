"""The page of regression cases: kept answers, and runs of them with a model."""

from __future__ import annotations

import re
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.evaluation.rows import case_rows, rule_rows
from console.layout import shell_context
from console.parameters import parse_uuid
from console.timestamps import format_timestamp
from console.undo import announce_undoable
from jobs.errors import WrongState
from projects.common.translation import lazy
from projects.models import Project, User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.evaluation.comparison import Change, Comparison, compare
from tools.evaluation.kept import MAX_CASES, delete_case
from tools.evaluation.runs import LONGEST_MODEL, MODEL_NAME, cancel_run, cases_of, default_model_of, start_run
from tools.models import EvaluationRun, RunState

VIEW = "regression_cases"
RUNS_SHOWN = 10
INVALID_MODEL = lazy("Enter the name of a model, without spaces.")
PASSED, FAILED = (Change.PASSING, Change.NEWLY_PASSING), (Change.FAILING, Change.NEWLY_FAILING)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def regression_cases(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The cases with their results in the chosen run, the latest by default. POST starts or cancels a run, or deletes a
    case. With `part=run`, only the part that changes while a run goes on.
    """
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    if is_post:
        _act(request, entry)
        return redirect(reverse(VIEW, args=[project_slug]))
    with tenant_tx(entry.project.organization.pk):
        context = _page(entry, run_id=parse_uuid(request.GET.get("run", "")))
    template = "evaluation/_run.html" if request.GET.get("part") == "run" else "evaluation/cases.html"
    return render(request, template, {**shell_context(request, entry), **context})


def _act(request: HttpRequest, entry: Entry) -> None:
    actions = {"run": _start, "cancel": _cancel, "delete": _delete}
    act = actions.get(request.POST.get("do", ""))
    if act is None:
        raise Http404
    try:
        with tenant_tx(entry.project.organization.pk):
            act(request, entry)
    except WrongState as error:
        messages.error(request, error.message)


def _start(request: HttpRequest, entry: Entry) -> None:
    model = request.POST.get("model", "").strip()
    if model and (len(model) > LONGEST_MODEL or not re.match(MODEL_NAME, model)):
        messages.error(request, INVALID_MODEL)
        return
    start_run(entry.project, model=model, by=cast(User, request.user).name)


def _cancel(request: HttpRequest, entry: Entry) -> None:
    try:
        cancel_run(entry.project, _posted_id(request))
    except EvaluationRun.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, gettext("Run canceled."))


def _delete(request: HttpRequest, entry: Entry) -> None:
    case_id = _posted_id(request)
    if not delete_case(entry.project, case_id):
        raise Http404
    announce_undoable(request, entry, gettext("Case deleted."), kind="case", case=str(case_id))


def _posted_id(request: HttpRequest) -> UUID:
    found = parse_uuid(request.POST.get("id", ""))
    if found is None:
        raise Http404
    return found


def _page(entry: Entry, *, run_id: UUID | None) -> dict[str, Any]:
    project, zone = entry.project, zone_of(entry)
    runs = list(EvaluationRun.objects.filter(project=project)[:RUNS_SHOWN])
    run = _chosen(project, runs, run_id)
    comparison = compare(run) if run else None
    return {
        "run": run,
        "is_running": run is not None and run.state == RunState.RUNNING,
        "is_busy": any(one.state == RunState.RUNNING for one in runs),
        "started": format_timestamp(run.created_at, zone=zone) if run else None,
        "previous": comparison.previous if comparison else None,
        "counts": _counts(comparison) if comparison else None,
        "rows": case_rows(project, comparison),
        "rules": rule_rows(comparison) if comparison else [],
        "runs": [(one, format_timestamp(one.created_at, zone=zone)) for one in runs],
        "cases": cases_of(project).count(),
        "most_cases": MAX_CASES,
        "model": default_model_of(project),
        "models": _models(project),
    }


def _chosen(project: Project, runs: list[EvaluationRun], run_id: UUID | None) -> EvaluationRun | None:
    """The run with this id, or the latest. Raises Http404 for an id that isn't there."""
    if run_id is None:
        return runs[0] if runs else None
    found = EvaluationRun.objects.filter(project=project, pk=run_id).first()
    if found is None:
        raise Http404
    return found


def _counts(comparison: Comparison) -> dict[str, int]:
    waiting = comparison.count(Change.WAITING)
    return {
        "all": len(comparison.results),
        "over": len(comparison.results) - waiting,
        "passed": comparison.count(*PASSED),
        "failed": comparison.count(*FAILED),
        "new": comparison.count(Change.NEWLY_FAILING),
        "skipped": comparison.count(Change.SKIPPED),
    }


def _models(project: Project) -> list[str]:
    """Models to suggest: those of the project's skills and the operator's."""
    version = project.agent_version
    own = version.config.models.values() if version else ()
    return sorted({default_model_of(project), *own, settings.MODEL, settings.FAST_MODEL} - {""})
