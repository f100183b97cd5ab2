"""The page of regression cases: the cases with their results, and what can be done there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk
from tests.tools.evaluation.test_runs import RIGHT, SMS, finish, keep, start
from tools.evaluation.kept import keep_case
from tools.evaluation.runs import cases_of
from tools.models import CaseResult, EvaluationRun, ResultState, RunState


def address(tenant: Tenant) -> str:
    return reverse("regression_cases", args=[tenant.project.slug])


def page(client: Client, tenant: Tenant, **query: Any) -> str:
    response = client.get(address(tenant), query)
    assert response.status_code == 200
    return response.content.decode()


def test_a_page_without_cases_says_how_to_keep_one(owner: Client, tenant: Tenant) -> None:
    text = page(owner, tenant)
    assert "No cases yet" in text
    assert 'name="do" value="run"' not in text


def test_a_case_that_was_never_run_says_so(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    text = page(owner, tenant)
    assert "Not run yet" in text
    assert "I&#x27;ll text you the address." in text


def test_a_run_is_started_with_the_model_and_shown(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    assert owner.post(address(tenant), {"do": "run", "model": " gpt-4.1 "}).status_code == 302
    text = page(owner, tenant, part="run")
    assert 'data-running="1"' in text
    assert "0 of 1 cases" in text
    assert "<html" not in text
    with tenant.tx():
        assert EvaluationRun.objects.get().model == "gpt-4.1"


def test_a_run_is_canceled_on_the_page(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    run = start(tenant)
    owner.post(address(tenant), {"do": "cancel", "id": run.pk})
    with tenant.tx():
        assert EvaluationRun.objects.get().state == RunState.CANCELLED
    assert "Skipped: 1" in page(owner, tenant)


def test_a_refused_run_says_why(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    start(tenant)
    text = owner.post(address(tenant), {"do": "run"}, follow=True).content.decode()
    assert "Run 1 is still running" in text


def test_a_model_name_with_a_space_is_refused(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    text = owner.post(address(tenant), {"do": "run", "model": "a model"}, follow=True).content.decode()
    assert "Enter the name of a model" in text
    with tenant.tx():
        assert not EvaluationRun.objects.exists()


def test_a_newly_failing_case_shows_what_was_found_and_expected(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    finish(tenant, start(tenant), ResultState.PASSED)
    run = start(tenant)
    with tenant.tx():
        CaseResult.objects.filter(run=run).update(outcomes={SMS: "offer"})
        CaseResult.objects.filter(run=run).update(state=ResultState.FAILED)
    text = page(owner, tenant)
    assert "Newly failing" in text
    assert "1 newly failing" in text
    assert "Held back: an offer" in text
    assert "Expected: Fires" in text


def test_an_earlier_run_can_be_opened(owner: Client, tenant: Tenant) -> None:
    keep(tenant, RIGHT)
    first = finish(tenant, start(tenant), ResultState.PASSED)
    finish(tenant, start(tenant), ResultState.FAILED)
    assert "Run 1</h2>" in page(owner, tenant, run=first.pk)
    assert owner.get(address(tenant), {"run": tenant.project.pk}).status_code == 404


def test_a_case_links_to_the_turn_that_it_comes_from(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    row, other = talk(tenant, "Hi"), talk(stranger, "Hi")
    with tenant.tx():
        turn = row.turns.get()
        keep_case(tenant.project, channel="chat", turn_id=turn.pk, **RIGHT)
    with stranger.tx():
        foreign = other.turns.get()
    with tenant.tx():
        keep_case(tenant.project, channel="chat", turn_id=foreign.pk, **RIGHT)
    text = page(owner, tenant)
    assert f"?conversation={row.pk}&amp;turn={turn.pk}" in text
    assert str(foreign.pk) not in text


def test_a_case_is_deleted(owner: Client, tenant: Tenant) -> None:
    [case] = keep(tenant, RIGHT)
    owner.post(address(tenant), {"do": "delete", "id": case.pk})
    with tenant.tx():
        assert not cases_of(tenant.project).exists()


@pytest.mark.parametrize("form", [{"do": "delete", "id": "x"}, {"do": "cancel"}, {"do": "explode"}, {}])
def test_a_malformed_form_is_not_found(owner: Client, tenant: Tenant, form: dict[str, str]) -> None:
    assert owner.post(address(tenant), form).status_code == 404


def test_a_viewer_sees_the_results_and_starts_nothing(tenant: Tenant, viewer: User) -> None:
    keep(tenant, RIGHT)
    client = browser(viewer)
    assert 'value="run"' not in page(client, tenant)
    assert client.post(address(tenant), {"do": "run"}).status_code == 403
