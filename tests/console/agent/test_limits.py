"""The limits page, the settings of limits, and the notices about them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config import environment
from config.runner import preflight
from jobs.models import ModelCall
from projects.models import Role, User
from projects.models.attribute_catalogue import KIND_LIMITS, LIMIT_SETTINGS, SETTING
from projects.records.attributes import resolve_attributes
from tests.conftest import Tenant, member_of
from tests.console.agent.conftest import Settings
from tests.console.pages.conftest import browser
from tests.lane_runs import run_lanes
from tools.engine.limits.alerts import LANE, has_room
from tools.engine.limits.catalogue import RULES
from tools.engine.limits.model_budget import find_spent_budget
from tools.engine.limits.organization import read_organization_limits
from tools.engine.policy import policy_of
from tools.models import OF_ORGANIZATIONS, Limit, LimitAlert, OperatorLimit

TEXTS = f"{SETTING}sms_daily_limit"


def reach(tenant: Tenant, *, used: int = 200, limit: str = "sms") -> LimitAlert:
    """Use a limit of 200 up to here, and return the alert about it."""
    with tenant.tx():
        has_room(tenant.project.pk, limit, used=used, most=200)
        return LimitAlert.objects.get()


def address(tenant: Tenant) -> str:
    return reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "limits"})


def lift(client: Client, tenant: Tenant, alert: LimitAlert) -> Any:
    return client.post(address(tenant), {"alert": str(alert.pk)})


def test_an_operator_lifts_a_limit(tenant: Tenant) -> None:
    alert, operator = reach(tenant), member_of(tenant, Role.OPERATOR)
    lift(browser(operator), tenant, alert)
    with tenant.tx():
        assert LimitAlert.objects.get().lifted_by == operator


def test_a_viewer_cannot_lift_a_limit(tenant: Tenant) -> None:
    alert = reach(tenant)
    assert lift(browser(member_of(tenant, Role.VIEWER)), tenant, alert).status_code == 403


def test_two_people_lift_a_limit_once(owner: Settings) -> None:
    alert = reach(owner.tenant)
    lift(owner.client, owner.tenant, alert)
    lift(owner.client, owner.tenant, alert)
    assert "has already been raised" in owner.page("limits")


def test_a_limit_of_another_tenant_cannot_be_lifted(tenant: Tenant, stranger: Tenant) -> None:
    alert = reach(stranger)
    assert lift(browser(tenant.owner), tenant, alert).status_code == 404


def test_a_reached_limit_needs_somebody(owner: Settings) -> None:
    reach(owner.tenant)
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "The limit of 200 text messages per day was reached." in text
    assert f'href="{address(owner.tenant)}"' in text


def test_a_half_used_limit_needs_somebody(owner: Settings) -> None:
    reach(owner.tenant, used=99)
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "100 of 200 text messages per day used." in text


def test_a_lifted_limit_needs_nobody(owner: Settings) -> None:
    lift(owner.client, owner.tenant, reach(owner.tenant))
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "text messages per day" not in text


def test_a_limit_is_set_on_the_attributes_page(owner: Settings) -> None:
    name = next(key for key, value in owner.form("attributes").items() if value == TEXTS).replace(".key", ".value")
    owner.change("attributes", **{name.replace(".", "__"): "50"})
    with owner.tenant.tx():
        assert resolve_attributes(owner.tenant.project)[TEXTS].value == 50


@pytest.mark.parametrize(("value", "status"), [(-1, 422), ("50", 422), (True, 422), (1.5, 422), (None, 400)])
def test_a_limit_must_be_a_whole_number(value: object, status: int, tenant: Tenant, client: Client) -> None:
    url = f"/api/v1/attributes/{TEXTS}"
    answer = client.put(url, {"value": value}, content_type="application/json", headers=tenant.headers)
    assert answer.status_code == status


def test_a_limit_is_set_and_read_over_the_api(tenant: Tenant, client: Client) -> None:
    url = f"/api/v1/attributes/{TEXTS}"
    client.put(url, {"value": 50}, content_type="application/json", headers=tenant.headers)
    assert client.get(url, headers=tenant.headers).json()["value"] == 50


def test_the_page_names_the_limits_that_hold_without_a_setting() -> None:
    defaults = {key: getattr(policy_of(kind), limit) for (kind, limit), key in KIND_LIMITS.items()}
    assert all(f"({most:,} if empty)" in LIMIT_SETTINGS[key] for key, most in defaults.items())
    assert {*defaults, *(rule.setting for rule in RULES.values())} == {*LIMIT_SETTINGS}


def test_half_of_a_limit_and_the_whole_are_mailed_to_those_who_may_lift_it(tenant: Tenant, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example"
    member_of(tenant, Role.VIEWER)
    operator = member_of(tenant, Role.OPERATOR)
    reach(tenant, used=99)
    run_lanes(LANE)
    assert sorted(letter.to[0] for letter in mail.outbox) == sorted([operator.email, tenant.owner.email])
    assert "100 of 200 text messages per day used." in mail.outbox[0].body


# Changing them


def change(client: Client, tenant: Tenant, limit: str, most: str, **more: str) -> Any:
    return client.post(address(tenant), {"limit": limit, "most": most, **more})


def rows(client: Client, tenant: Tenant, name: str = "rows") -> dict[str, Any]:
    return {row.limit: row for row in client.get(address(tenant)).context[name]}


def test_an_admin_changes_a_limit_of_the_project(tenant: Tenant) -> None:
    client = browser(member_of(tenant, Role.ADMIN))
    assert change(client, tenant, "model_month_cost", "1,500").status_code == 302
    assert rows(client, tenant)["model_month_cost"].most == "1,500 USD"


def test_an_empty_field_returns_to_the_default(owner: Settings) -> None:
    change(owner.client, owner.tenant, "sms", "50")
    change(owner.client, owner.tenant, "sms", "")
    row = rows(owner.client, owner.tenant)["sms"]
    assert (row.most, row.origin) == ("200", "Default")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("-5", "A limit is a whole number from 0 to 1,000,000,000,000, not -5. 0 allows nothing."),
        ("lots", "Enter a whole number, such as 200, or leave it empty."),
        ("1.5", "Enter a whole number, such as 200, or leave it empty."),
        ("9" * 20, "A limit is a whole number from 0 to 1,000,000,000,000"),
    ],
)
def test_a_wrong_limit_is_refused_beside_its_field(typed: str, sentence: str, owner: Settings) -> None:
    answer = change(owner.client, owner.tenant, "model_month_cost", typed)
    assert answer.status_code == 422
    row = {row.limit: row for row in answer.context["rows"]}["model_month_cost"]
    assert (row.typed, row.error.startswith(sentence)) == (typed, True)


def test_a_limit_of_nothing_says_what_it_does(owner: Settings) -> None:
    answer = owner.client.post(address(owner.tenant), {"limit": "turns", "most": "0"}, follow=True)
    assert "0 blocks all of these." in answer.content.decode()


def test_an_operator_of_the_project_changes_no_limit(tenant: Tenant) -> None:
    assert change(browser(member_of(tenant, Role.OPERATOR)), tenant, "sms", "50").status_code == 403


def test_an_owner_limits_the_whole_organization(owner: Settings) -> None:
    change(owner.client, owner.tenant, "storage", "500", organization="1")
    assert rows(owner.client, owner.tenant, "shared")["storage"].most == "500 MB"


def test_an_admin_does_not_limit_the_organization(tenant: Tenant) -> None:
    admin = browser(member_of(tenant, Role.ADMIN))
    assert change(admin, tenant, "storage", "500", organization="1").status_code == 403


def test_an_owner_stays_below_the_operators_limit(owner: Settings) -> None:
    limit_by_operator(owner.tenant, 100)
    answer = change(owner.client, owner.tenant, "model_month_cost", "101", organization="1")
    assert answer.status_code == 422
    assert "The server administrator allows at most 100 USD per month for models." in answer.content.decode()
    row = rows(owner.client, owner.tenant, "shared")["model_month_cost"]
    assert (row.most, row.origin) == ("100 USD", "Set by the server administrator")


def test_somebody_elses_organization_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    assert change(browser(stranger.owner), tenant, "storage", "5", organization="1").status_code == 404


def limit_by_operator(tenant: Tenant, most: int) -> None:
    OperatorLimit(organization_id=tenant.organization.pk, limit=Limit.MONTH_COST, most=most).save(
        using="ops", force_insert=True
    )


def test_the_product_cannot_write_the_operators_limits(tenant: Tenant) -> None:
    limit_by_operator(tenant, 100)
    with pytest.raises(DatabaseError, match="permission denied"), tenant.tx():
        OperatorLimit.objects.update(most=1_000)


def test_the_operator_sets_a_limit_in_the_admin(tenant: Tenant) -> None:
    platform = User.objects.create_superuser("platform@example.com", "correct horse battery")
    client, url = browser(platform), reverse("admin:tools_operatorlimit_add")
    typed = {"limited": str(tenant.organization.pk), "limit": "model_month_cost", "most": "75"}
    client.post(url, typed)
    with tenant.tx():
        assert read_organization_limits().by_operator == {"model_month_cost": 75}
    assert "has such a limit already" in client.post(url, typed).content.decode()
    assert "greater than or equal to 0" in client.post(url, {**typed, "limit": "turns", "most": "-1"}).content.decode()


def test_an_owner_sets_no_operators_limit_in_the_admin(tenant: Tenant) -> None:
    assert browser(tenant.owner).get(reverse("admin:tools_operatorlimit_add")).status_code == 403


def test_a_month_is_warned_of_on_the_home_page_until_the_limit_is_raised(owner: Settings) -> None:
    tenant = owner.tenant
    change(owner.client, tenant, "model_month_tokens", "100")
    with tenant.tx():
        known = {"template_hash": "", "host": "", "messages": [], "total_ms": 1, "started_at": timezone.now()}
        ModelCall.objects.create(project=tenant.project, skill="reply", model="m", input_tokens=85, **known)
        find_spent_budget(tenant.project)
    home, said = reverse("dashboard", args=[tenant.project.slug]), "85 of 100 model tokens per month used."
    before = said in owner.client.get(home).content.decode()
    change(owner.client, tenant, "model_month_tokens", "1000")
    assert (before, said in owner.client.get(home).content.decode()) == (True, False)


def test_the_settings_of_the_installation_name_the_same_limits() -> None:
    assert set(OF_ORGANIZATIONS) == environment.ORGANIZATION_LIMITS == preflight.LIMITS
