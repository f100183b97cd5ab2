"""Runs of kept cases: their jobs, their results, and what ends them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from jobs.errors import WrongState
from jobs.models import Job, ModelCall, State
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.processes import ForkServer, until
from tools.evaluation.comparison import Change, compare
from tools.evaluation.kept import delete_case, keep_case
from tools.evaluation.runs import cancel_run, settle, start_run
from tools.models import CaseResult, EvaluationRun, KeptCase, ResultState, RunState

RUNS = "/api/v1/evaluation-runs"
SMS = "send_sms_tool"
RIGHT = {"name": "right", "answer": "I'll text you the address.", "expected": {SMS: "fired"}}
WRONG = {"name": "wrong", "answer": "I'll text you the address.", "expected": {SMS: "offer"}}


def keep(tenant: Tenant, *cases: dict[str, Any]) -> list[KeptCase]:
    with tenant.tx():
        return [keep_case(tenant.project, channel="chat", **case) for case in cases]


def start(tenant: Tenant, **options: Any) -> EvaluationRun:
    with tenant.tx():
        return start_run(tenant.project, by="Ada", **options)


def finish(tenant: Tenant, run: EvaluationRun, *states: ResultState) -> EvaluationRun:
    """End the run with these states of its cases, oldest first, as if a worker had run them."""
    with tenant.tx():
        for result, state in zip(CaseResult.objects.filter(run=run).order_by("case_id"), states, strict=True):
            CaseResult.objects.filter(pk=result.pk).update(state=state, outcomes=result.case.expected)
        settle(EvaluationRun.objects.get(pk=run.pk))
        run.refresh_from_db()
    return run


def is_over(tenant: Tenant, run: EvaluationRun) -> bool:
    with tenant.tx():
        run.refresh_from_db()
    return run.state != RunState.RUNNING


def states_of(tenant: Tenant, run: EvaluationRun) -> dict[str, str]:
    with tenant.tx():
        return {one.case.name: one.state for one in CaseResult.objects.filter(run=run).select_related("case")}


def test_a_run_passes_and_fails_each_case(tenant: Tenant, processes: ForkServer) -> None:
    processes.worker()
    keep(tenant, RIGHT, WRONG)
    run = start(tenant)
    until(lambda: is_over(tenant, run), what="the end of the run")
    assert run.state == RunState.DONE
    assert states_of(tenant, run) == {"right": "passed", "wrong": "failed"}
    with tenant.tx():
        assert compare(run).results[0].result.outcomes == {SMS: "fired"}


def test_a_run_asks_the_chosen_model_and_counts_its_calls(tenant: Tenant, processes: ForkServer) -> None:
    processes.worker()
    keep(tenant, RIGHT)
    run = start(tenant, model="another-model")
    until(lambda: is_over(tenant, run), what="the end of the run")
    with tenant.tx():
        assert set(ModelCall.objects.values_list("model", "skill")) == {("another-model", "detect")}


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["lane.llm_done_pre_commit", "lane.committed"])
def test_a_run_goes_on_after_its_worker_was_killed(tenant: Tenant, processes: ForkServer, label: str) -> None:
    keep(tenant, *(RIGHT | {"name": f"case {number}"} for number in range(4)))
    doomed = processes.worker(crash_at=f"{label}:2")
    run = start(tenant)
    doomed.wait()
    processes.worker()
    until(lambda: is_over(tenant, run), what="the end of the run")
    assert set(states_of(tenant, run).values()) == {"passed"}


def test_a_canceled_run_skips_the_cases_that_wait(tenant: Tenant) -> None:
    keep(tenant, RIGHT, WRONG)
    run = start(tenant)
    with tenant.tx():
        cancel_run(tenant.project, run.pk)
        assert set(Job.objects.filter(lane="evaluation").values_list("state", flat=True)) == {State.SUPERSEDED}
    assert set(states_of(tenant, run).values()) == {"skipped"}
    with tenant.tx(), pytest.raises(WrongState):
        cancel_run(tenant.project, run.pk)


def test_a_project_has_one_run_at_a_time(tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    start(tenant)
    with pytest.raises(WrongState):
        start(tenant)


def test_a_project_without_cases_has_nothing_to_run(tenant: Tenant) -> None:
    with pytest.raises(WrongState):
        start(tenant)


def test_no_run_starts_over_the_model_budget(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tenant, RIGHT)
    monkeypatch.setattr("tools.evaluation.runs.find_spent_budget", lambda project: "The model budget is spent.")
    with pytest.raises(WrongState, match="The model budget is spent"):
        start(tenant)


def test_the_last_case_that_is_deleted_ends_the_run(tenant: Tenant) -> None:
    [case] = keep(tenant, RIGHT)
    run = start(tenant)
    with tenant.tx():
        delete_case(tenant.project, case.pk)
    assert is_over(tenant, run)


def test_only_the_newest_runs_are_kept(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.evaluation.runs.MAX_RUNS", 2)
    keep(tenant, RIGHT)
    for _ in range(3):
        finish(tenant, start(tenant), ResultState.PASSED)
    with tenant.tx():
        assert list(EvaluationRun.objects.values_list("number", flat=True)) == [3, 2]


def test_a_case_that_fails_newly_comes_first(tenant: Tenant) -> None:
    cases = [RIGHT | {"name": name} for name in ("passes", "fails again", "fails newly", "passes again")]
    keep(tenant, *cases)
    states = ResultState
    finish(tenant, start(tenant), states.PASSED, states.FAILED, states.PASSED, states.ERROR)
    run = finish(tenant, start(tenant), states.PASSED, states.FAILED, states.FAILED, states.PASSED)
    with tenant.tx():
        compared = compare(run)
    assert [(one.result.case.name, one.change) for one in compared.results] == [
        ("fails newly", Change.NEWLY_FAILING),
        ("fails again", Change.FAILING),
        ("passes again", Change.NEWLY_PASSING),
        ("passes", Change.PASSING),
    ]


def test_a_canceled_run_is_not_compared_with(tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    first = finish(tenant, start(tenant), ResultState.PASSED)
    canceled = start(tenant)
    with tenant.tx():
        cancel_run(tenant.project, canceled.pk)
    run = finish(tenant, start(tenant), ResultState.FAILED)
    with tenant.tx():
        compared = compare(run)
    assert compared.previous == first
    assert compared.results[0].change == Change.NEWLY_FAILING


def test_the_score_of_a_rule_is_beside_that_of_the_run_before(tenant: Tenant) -> None:
    keep(tenant, RIGHT, WRONG)
    finish(tenant, start(tenant), ResultState.PASSED, ResultState.PASSED)
    run = start(tenant)
    with tenant.tx():
        CaseResult.objects.filter(run=run).update(state=ResultState.FAILED, outcomes={SMS: "fired"})
        rules = compare(run).rules
    assert [(one.outcome, one.labels, one.passed, one.before) for one in rules] == [
        ("fired", 1, 1, 1),
        ("offer", 1, 0, 1),
    ]


def test_the_api_starts_reads_and_cancels_a_run(tenant: Tenant, api: Client) -> None:
    [case] = keep(tenant, RIGHT)
    started = api.post(RUNS, {"model": "gpt-4.1"}, content_type="application/json")
    assert (started.status_code, started.json()["model"], started.json()["number"]) == (202, "gpt-4.1", 1)
    one = f"{RUNS}/{started.json()['id']}"
    [result] = api.get(one).json()["results"]
    assert (result["case"], result["state"], result["change"]) == (str(case.pk), "waiting", "waiting")
    assert api.post(RUNS, {}, content_type="application/json").status_code == 409
    assert api.post(f"{one}/cancel").json()["state"] == "cancelled"
    assert [row["number"] for row in api.get(RUNS).json()["results"]] == [1]


def test_another_tenants_run_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    keep(tenant, RIGHT)
    run = start(tenant)
    client = Client(headers=stranger.headers)
    assert client.get(f"{RUNS}/{run.pk}").status_code == 404
    assert client.post(f"{RUNS}/{run.pk}/cancel").status_code == 404


@pytest.mark.parametrize("name", ["", "two words", "x" * 121, "<script>"])
def test_an_invalid_model_name_is_refused(tenant: Tenant, api: Client, name: str) -> None:
    keep(tenant, RIGHT)
    refused = api.post(RUNS, {"model": name}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "model")


def test_of_two_who_start_a_run_at_once_one_does(tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    with meanwhile("tools_keptcase", lambda: start(tenant)) as others:
        start(tenant)
    with pytest.raises(WrongState):
        others[0].result()
