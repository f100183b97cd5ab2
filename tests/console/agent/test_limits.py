"""The limits page, the settings of limits, and the notices about them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from jobs import claims
from jobs.lanes import lane_of
from jobs.runner import attempt
from projects.models import Role
from projects.models.attribute_catalogue import KIND_LIMITS, LIMIT_SETTINGS, SETTING
from projects.records.attributes import resolve_attributes
from tenancy.threads import in_db
from tests.conftest import Tenant, member_of
from tests.console.agent.conftest import Settings
from tests.console.pages.conftest import browser
from tools.engine.limit_alerts import LANE, has_room
from tools.engine.model_budget import SETTINGS
from tools.engine.policy import policy_of
from tools.models import LimitAlert

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
    assert "has already been lifted" in owner.page("limits")


def test_a_limit_of_another_tenant_cannot_be_lifted(tenant: Tenant, stranger: Tenant) -> None:
    alert = reach(stranger)
    assert lift(browser(tenant.owner), tenant, alert).status_code == 404


def test_a_reached_limit_needs_somebody(owner: Settings) -> None:
    reach(owner.tenant)
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "The limit of 200 text messages a day was reached." in text
    assert f'href="{address(owner.tenant)}"' in text


def test_a_half_used_limit_needs_somebody(owner: Settings) -> None:
    reach(owner.tenant, used=99)
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "100 of at most 200 text messages a day." in text


def test_a_lifted_limit_needs_nobody(owner: Settings) -> None:
    lift(owner.client, owner.tenant, reach(owner.tenant))
    text = owner.client.get(reverse("dashboard", args=[owner.tenant.project.slug])).content.decode()
    assert "text messages a day" not in text


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
    assert {*defaults, *(key for key, _ in SETTINGS.values())} == {*LIMIT_SETTINGS}


def test_half_of_a_limit_and_the_whole_are_mailed_to_those_who_may_lift_it(tenant: Tenant, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example"
    member_of(tenant, Role.VIEWER)
    operator = member_of(tenant, Role.OPERATOR)
    reach(tenant, used=99)
    asyncio.run(_run_notices())
    assert sorted(letter.to[0] for letter in mail.outbox) == sorted([operator.email, tenant.owner.email])
    assert "100 of at most 200 text messages a day." in mail.outbox[0].body


async def _run_notices() -> None:
    lane = lane_of(LANE)
    for job in await in_db(claims.claim, [lane], limit=5):
        await attempt(job, lane)
