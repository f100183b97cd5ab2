"""The usage page, its CSV, and the same figures over the API."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from jobs.models import ModelUsage
from projects.agents.services import create_project
from projects.models import Role
from projects.models.agent_config import AgentConfig
from tests.api.documented import DocumentedClient
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser
from tests.console.pages.test_csv import download

JULY = date(2026, 7, 1)


def used(tenant: Tenant, day: date, *, project: Any = None, **sums: Any) -> None:
    known = {"model": "large", "skill": "reply", "calls": 1, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0}
    with tenant.tx():
        ModelUsage.objects.create(
            project=project or tenant.project, day=day, slot=0, **{**known, "unpriced_tokens": 0, "cost": 0, **sums}
        )


@pytest.fixture
def july(tenant: Tenant) -> Tenant:
    """Usage of two days in July and one in August."""
    used(tenant, JULY, calls=2, input_tokens=2_000, output_tokens=100, cost=Decimal("1.5"))
    used(tenant, JULY.replace(day=31), model="small", skill="observer", calls=3, cost=Decimal("0.25"))
    used(tenant, date(2026, 8, 1), calls=7, cost=Decimal(4))
    return tenant


def page(tenant: Tenant, user: Any = None, query: str = "?month=2026-07") -> Any:
    return browser(user or tenant.owner).get(reverse("usage", args=[tenant.project.slug]) + query)


def read(tenant: Tenant, query: str) -> Any:
    return DocumentedClient().get(f"/api/v1/usage{query}", headers=tenant.headers)


def test_the_page_sums_up_the_month(july: Tenant) -> None:
    shown = page(july).context
    assert (shown["cost"], shown["total"].calls, shown["total"].input_tokens) == ("$1.75", "5", "2,000")
    assert [(line.name, line.cost) for line in shown["models"]] == [("large", "$1.50"), ("small", "$0.25")]
    assert [line.code for line in shown["purposes"]] == ["reply", "observer"]


def test_a_month_without_calls_says_so(tenant: Tenant) -> None:
    assert "No model calls in this month" in page(tenant).content.decode()


@pytest.mark.parametrize("query", ["", "?month="])
def test_the_month_is_this_one_if_none_is_named(query: str, tenant: Tenant) -> None:
    assert page(tenant, query=query).context["month"].key == f"{datetime.now(UTC):%Y-%m}"


@pytest.mark.parametrize("month", ["2999-01", "1999-12", "July", "2026-13", "202611", "2026-11-28", "9" * 400])
@pytest.mark.parametrize("name", ["usage", "usage_csv"])
def test_a_month_that_there_is_not_is_refused(name: str, month: str, tenant: Tenant) -> None:
    answer = browser(tenant.owner).get(reverse(name, args=[tenant.project.slug]), {"month": month})
    assert answer.status_code == 400
    assert "month must be " in answer.content.decode()


def test_no_month_is_offered_before_the_first(tenant: Tenant) -> None:
    answer = page(tenant, query="?month=2000-01")
    assert answer.status_code == 200
    assert "1999-12" not in answer.content.decode()


def test_an_owner_sees_the_other_projects_of_the_organization(july: Tenant) -> None:
    with july.tx():
        config = AgentConfig(agent_name="Ada", business_name="Nello Due")
        second = create_project("Nello Due", config=config, author=july.owner)
    used(july, JULY, project=second, cost=Decimal(3))
    rows = [(line.name, line.cost) for line in page(july).context["by_project"]]
    assert rows == [("Nello Due", "$3.00"), ("Nello", "$1.75"), ("All projects", "$4.75")]
    assert page(july, member_of(july, Role.VIEWER)).context["by_project"] == []


def test_a_stranger_does_not_see_the_page(july: Tenant, stranger: Tenant) -> None:
    assert page(july, stranger.owner).status_code == 404


def lines(tenant: Tenant) -> list[list[str]]:
    text = download(browser(tenant.owner), tenant, "usage", month="2026-07").decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text)))


def test_the_csv_has_a_line_for_each_day_model_and_purpose(july: Tenant) -> None:
    head, *rows = lines(july)
    assert head[0] == "Day (UTC)"
    assert [(row[0], row[1], row[2], row[3], row[-1]) for row in rows] == [
        ("2026-07-31", "small", "observer", "3", "0.250000"),
        ("2026-07-01", "large", "reply", "2", "1.500000"),
    ]


def test_a_long_csv_is_complete(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.usage.export.PAGE", 2)
    for day in range(1, 6):
        used(tenant, JULY.replace(day=day))
    assert [row[0][-2:] for row in lines(tenant)[1:]] == ["05", "04", "03", "02", "01"]


def test_the_api_divides_by_day_model_and_purpose(july: Tenant) -> None:
    found = read(july, "?since=2026-07-01&until=2026-07-31").json()
    assert [(row["period"], row["model"], row["purpose"], row["cost"]) for row in found["results"]] == [
        ("2026-07-31", "small", "observer", 0.25),
        ("2026-07-01", "large", "reply", 1.5),
    ]
    assert (found["total"]["calls"], found["total"]["cost"]) == (5, 1.75)


def test_the_api_divides_by_month(july: Tenant) -> None:
    found = read(july, "?since=2026-07-01&until=2026-08-31&interval=month&purpose=reply").json()
    assert [(row["period"], row["calls"]) for row in found["results"]] == [("2026-08-01", 7), ("2026-07-01", 2)]


def test_the_api_finds_one_model(july: Tenant) -> None:
    assert read(july, "?since=2026-07-01&until=2026-07-31&model=small").json()["total"]["calls"] == 3


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("?since=July", 400, "since"),
        ("?since=2026-W27-3", 400, "since"),
        ("?until=2026-02-30", 400, "until"),
        ("?since=2026-08-02&until=2026-08-01", 422, "since"),
        ("?since=2026-01-01&until=2026-08-01", 422, "since"),
        ("?since=2999-01-01", 422, "since"),
        ("?interval=week", 400, "interval"),
        ("?modle=large", 400, "modle"),
    ],
)
def test_a_wrong_period_gets_a_sentence(query: str, status: int, field: str, tenant: Tenant) -> None:
    answer = read(tenant, query)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


def test_the_api_covers_the_month_so_far_by_default(tenant: Tenant) -> None:
    today = datetime.now(UTC).date()
    used(tenant, today)
    used(tenant, today.replace(day=1) - timedelta(days=1))
    found = read(tenant, "").json()
    assert (found["since"], found["total"]["calls"]) == (today.replace(day=1).isoformat(), 1)


def test_a_keys_project_is_read_and_no_other(july: Tenant, stranger: Tenant, client: Client) -> None:
    assert read(stranger, "?since=2026-07-01&until=2026-07-31").json()["results"] == []


def printed(*arguments: str) -> list[dict[str, str]]:
    text = io.StringIO()
    call_command("usage", *arguments, stdout=text)
    return list(csv.DictReader(io.StringIO(text.getvalue(), newline="")))


def test_the_operator_prints_the_usage_of_all_organizations(july: Tenant, stranger: Tenant) -> None:
    used(stranger, JULY, calls=9, cost=Decimal(3))
    rows = printed("2026-07")
    assert {(row["Organization"], row["Purpose"], row["Calls"], row["Cost (USD)"]) for row in rows} == {
        ("Nello", "reply", "2", "1.500000"),
        ("Nello", "observer", "3", "0.250000"),
        ("Stranger", "reply", "9", "3.000000"),
    }


def test_the_operator_is_told_how_a_month_is_written(database: None) -> None:
    with pytest.raises(CommandError, match="July is not a month"):
        printed("July")
