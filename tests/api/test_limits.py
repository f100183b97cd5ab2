"""Limits over the API: read, set and lifted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from projects.models import AuditEntry
from tests.conftest import Tenant
from tools.engine.limits.alerts import has_room
from tools.engine.limits.changes import forget
from tools.models import Limit, LimitAlert


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    forget()
    yield
    forget()


def limits(api: Client, scope: str = "project") -> dict[str, Any]:
    rows = api.get("/api/v1/limits").json()["results"]
    return {row["name"]: row for row in rows if row["scope"] == scope}


def put(api: Client, name: str, most: object) -> Any:
    return api.put(f"/api/v1/limits/{name}", {"most": most}, content_type="application/json")


def reach(tenant: Tenant, limit: str) -> LimitAlert:
    with tenant.tx():
        has_room(tenant.project.pk, limit, used=200, most=200)
        return LimitAlert.objects.get()


def lift(api: Client, alert: LimitAlert) -> Any:
    return api.post(f"/api/v1/limit-alerts/{alert.pk}/lift")


def test_every_limit_is_listed_with_its_use(api: Client) -> None:
    own, shared = limits(api), limits(api, "organization")
    assert set(own) == set(Limit.values)
    assert {name: own["sms"][name] for name in ("used", "most", "set_by", "window")} == {
        "used": 0,
        "most": 200,
        "set_by": "default",
        "window": "day",
    }
    assert (own["storage"]["most"], own["storage"]["unit"]) == (None, "MB")
    assert set(shared) == {"model_month_cost", "model_month_tokens", "turns", "storage", "open_conversations"}


def test_a_limit_is_set_and_returns_to_its_default(api: Client) -> None:
    found = [put(api, "sms", 50).json(), put(api, "sms", 0).json(), put(api, "sms", None).json()]
    assert [(one["most"], one["set_by"]) for one in found] == [(50, "project"), (0, "project"), (200, "default")]


def test_a_change_is_in_the_audit_log(tenant: Tenant, api: Client) -> None:
    put(api, "model_month_cost", 50)
    with tenant.tx():
        entry = AuditEntry.objects.get(action="limit.changed")
    assert (entry.actor, entry.subject) == ("the key test", "the limit of the project: 50 USD per month for models")
    assert (entry.before["most"], entry.after["most"]) == (None, 50)


@pytest.mark.parametrize(
    ("most", "sentence"),
    [
        (-1, "most must be greater than or equal to 0."),
        (1.5, "most must be a whole number."),
        ("many", "most must be a whole number."),
        (10**13, "most must be less than or equal to 1000000000000."),
    ],
)
def test_a_limit_is_a_whole_number_from_nothing(most: object, sentence: str, api: Client) -> None:
    answer = put(api, "model_month_cost", most)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, sentence)


def test_an_unknown_limit_is_not_found(api: Client) -> None:
    assert put(api, "money", 5).status_code == 404


def put_shared(api: Client, name: str, most: object) -> Any:
    return api.put(f"/api/v1/organization-limits/{name}", {"most": most}, content_type="application/json")


def test_a_limit_of_the_organization_is_set_and_removed(tenant: Tenant, api: Client) -> None:
    found = [put_shared(api, "storage", 50).json(), put_shared(api, "storage", None).json()]
    assert [(one["scope"], one["most"], one["set_by"]) for one in found] == [
        ("organization", 50, "organization"),
        ("organization", None, None),
    ]
    with tenant.tx():
        entry = AuditEntry.objects.filter(action="limit.changed").latest("at")
    assert (entry.actor, entry.subject) == ("the key test", "the limit of the organization: none")


def test_a_limit_of_the_organization_does_not_exceed_the_operators(api: Client, settings: Any) -> None:
    settings.ORGANIZATION_LIMITS = {"storage": 100}
    answer = put_shared(api, "storage", 101)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "above_the_operators_limit")
    assert limits(api, "organization")["storage"]["set_by"] == "operator"


@pytest.mark.parametrize("most", [-1, 1.5, "many", 10**13])
def test_a_limit_of_the_organization_is_a_whole_number(most: object, api: Client) -> None:
    assert put_shared(api, "storage", most).status_code == 400


@pytest.mark.parametrize("name", ["sms", "money"])
def test_an_organization_has_no_limit_of_another_name(name: str, api: Client) -> None:
    assert put_shared(api, name, 5).status_code == 404


def test_a_limit_of_a_day_is_lifted_once(tenant: Tenant, api: Client) -> None:
    alert = reach(tenant, "sms")
    assert limits(api)["sms"]["alert"] == str(alert.pk)
    assert lift(api, alert).json()["most"] == 400
    again = lift(api, alert)
    assert (again.status_code, again.json()["error"]["message"]) == (409, "This limit has already been raised.")


def test_a_limit_of_a_month_is_raised_instead(tenant: Tenant, api: Client) -> None:
    put(api, "model_month_cost", 200)
    alert = reach(tenant, "model_month_cost")
    assert limits(api)["model_month_cost"]["alert"] is None
    assert "Change this one under Limits." in lift(api, alert).json()["error"]["message"]


def test_another_organizations_limit_cannot_be_lifted(stranger: Tenant, api: Client) -> None:
    assert lift(api, reach(stranger, "sms")).status_code == 404
