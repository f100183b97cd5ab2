"""A project over its daily model budget asks no model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import ModelCall
from projects.models import Project
from projects.models.attribute_catalogue import MODEL_COST_LIMIT, MODEL_TOKEN_LIMIT
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tools.engine import model_budget
from tools.engine.model_budget import find_spent_budget, is_checked
from tools.models import LimitAlert


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    model_budget._checked_at.clear()
    yield
    model_budget._checked_at.clear()


def called(tenant: Tenant, **fields: Any) -> None:
    """A call that the project's model answered."""
    known = {"skill": "reply", "template_hash": "", "model": "large", "host": "", "messages": [], "total_ms": 1}
    with tenant.tx():
        ModelCall.objects.create(project=tenant.project, **{"started_at": timezone.now(), **known, **fields})


def spent(tenant: Tenant) -> str:
    with tenant.tx():
        return find_spent_budget(Project.objects.get(pk=tenant.project.pk))


def limited(tenant: Tenant, key: str, most: int) -> None:
    with tenant.tx():
        set_attribute(tenant.project, key, most)


def test_over_the_budget_the_customer_gets_one_sentence_and_no_model_is_asked(talk, worker, model) -> None:
    limited(talk.tenant, MODEL_TOKEN_LIMIT, 1_000)
    called(talk.tenant, input_tokens=900, output_tokens=100)
    turn = talk.exchange("Hello")
    assert turn["reply"]["content"] == "Sorry, I can’t reply at the moment. A colleague has been told."
    assert model.requests() == []
    assert "The model budget is spent" in talk.reload().flag


def test_money_counts_where_the_model_has_a_price(tenant: Tenant) -> None:
    limited(tenant, MODEL_COST_LIMIT, 5)
    called(tenant, cost=Decimal("4.99"), input_tokens=10**9)
    within = spent(tenant)
    called(tenant, cost=Decimal("0.01"))
    assert (within, "5 USD of model cost a day" in spent(tenant)) == ("", True)


def test_the_offline_model_costs_nothing(tenant: Tenant) -> None:
    limited(tenant, MODEL_TOKEN_LIMIT, 1)
    called(tenant, cost=Decimal(0), input_tokens=10**9)
    assert spent(tenant) == ""


def test_calls_of_the_day_before_do_not_count(tenant: Tenant) -> None:
    called(tenant, input_tokens=10**9, started_at=timezone.now() - timedelta(hours=25))
    assert spent(tenant) == ""


def test_without_a_setting_the_budget_is_generous_and_finite(tenant: Tenant) -> None:
    called(tenant, input_tokens=49_000_000)
    within = spent(tenant)
    called(tenant, input_tokens=1_000_000)
    assert (within, bool(spent(tenant))) == ("", True)


def test_half_of_the_budget_warns_staff_once(tenant: Tenant) -> None:
    called(tenant, input_tokens=25_000_000)
    spent(tenant)
    spent(tenant)
    with tenant.tx():
        assert LimitAlert.objects.filter(limit="model_tokens", is_reached=False).count() == 1


def test_a_project_within_its_budget_is_checked_every_few_seconds(tenant: Tenant) -> None:
    before = is_checked(tenant.project.pk)
    spent(tenant)
    assert (before, is_checked(tenant.project.pk)) == (False, True)


def test_a_spent_budget_is_checked_before_every_reply(tenant: Tenant) -> None:
    """Lifting it takes effect at once."""
    limited(tenant, MODEL_TOKEN_LIMIT, 0)
    spent(tenant)
    assert not is_checked(tenant.project.pk)
