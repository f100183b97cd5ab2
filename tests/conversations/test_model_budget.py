"""Budgets of model calls: of a day and of a month, of a project and of its organization, with a reserve."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from conversations.turns.services import start_conversation
from jobs.models import Job, ModelCall, ModelUsage
from projects.agents.services import create_project
from projects.models import Project
from projects.models.agent_config import AgentConfig
from projects.models.attribute_catalogue import (
    MODEL_COST_LIMIT,
    MODEL_TOKEN_LIMIT,
    MONTH_COST_LIMIT,
    MONTH_TOKEN_LIMIT,
    STORAGE_LIMIT,
)
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk
from tests.crashes.invariants import settle
from tests.processes import ForkServer, ScriptedModel
from tools.engine.limits.changes import forget, set_organization_limit
from tools.engine.limits.model_budget import Share, find_spent_budget, is_checked
from tools.models import Escalation, Limit, LimitAlert, OperatorLimit


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    forget()
    yield
    forget()


def called(tenant: Tenant, **fields: Any) -> None:
    """A call that the project's model answered."""
    known = {"skill": "reply", "template_hash": "", "model": "large", "host": "", "messages": [], "total_ms": 1}
    with tenant.tx():
        ModelCall.objects.create(project=tenant.project, **{"started_at": timezone.now(), **known, **fields})


def spent(tenant: Tenant, share: Share = Share.AGENT) -> str:
    with tenant.tx():
        return find_spent_budget(Project.objects.get(pk=tenant.project.pk), share)


def limit_organization(tenant: Tenant, most: int, *, limit: Limit = Limit.MONTH_COST) -> None:
    with tenant.tx():
        set_organization_limit(tenant.project, limit, most, by=tenant.owner)


def alerts(tenant: Tenant) -> list[tuple[str, bool, bool]]:
    with tenant.tx():
        rows = LimitAlert.objects.order_by("created_at")
        return list(rows.values_list("limit", "of_organization", "is_reached"))


def of_last_month(tenant: Tenant) -> None:
    """Move everything that is counted to the month before."""
    with tenant.tx():
        ModelUsage.objects.update(day=timezone.now().date().replace(day=1) - timedelta(days=1))


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
    assert (within, "5 USD per day for models" in spent(tenant)) == ("", True)


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


# A month


def test_a_month_has_a_budget_of_its_own(tenant: Tenant) -> None:
    limited(tenant, MONTH_COST_LIMIT, 20)
    called(tenant, cost=Decimal("19.99"))
    within = spent(tenant)
    called(tenant, cost=Decimal("0.01"), started_at=timezone.now() - timedelta(days=2))
    assert (within, spent(tenant)) == (
        "",
        "The model budget is spent: the limit of 20 USD per month for models is reached. Raise it under Limits.",
    )


def test_tokens_without_a_price_have_a_budget_of_the_month(tenant: Tenant) -> None:
    limited(tenant, MONTH_TOKEN_LIMIT, 100)
    called(tenant, input_tokens=60, output_tokens=40)
    assert "100 model tokens per month" in spent(tenant)


def test_the_month_before_does_not_count(tenant: Tenant) -> None:
    limited(tenant, MONTH_COST_LIMIT, 20)
    called(tenant, cost=Decimal(25))
    of_last_month(tenant)
    assert spent(tenant) == ""


def test_a_month_is_warned_of_at_eighty_percent_and_told_when_it_is_reached_once(tenant: Tenant) -> None:
    limited(tenant, MONTH_COST_LIMIT, 40)
    for cost in (31, 1, 1, 7, 1):
        called(tenant, cost=Decimal(cost))
        forget()
        spent(tenant)
    assert alerts(tenant) == [("model_month_cost", False, False), ("model_month_cost", False, True)]


def test_a_raised_budget_is_warned_of_again(tenant: Tenant) -> None:
    called(tenant, cost=Decimal(40))
    for most in (50, 48):
        limited(tenant, MONTH_COST_LIMIT, most)
        spent(tenant)
    assert len(alerts(tenant)) == 2


# An organization


def other_project(tenant: Tenant) -> Project:
    with tenant.tx():
        config = AgentConfig(agent_name="Ada", business_name="Nello Due")
        return create_project("Nello Due", config=config, author=tenant.owner)


def test_the_projects_of_an_organization_share_its_budget(tenant: Tenant) -> None:
    limit_organization(tenant, 30)
    other = other_project(tenant)
    called(tenant, cost=Decimal(20))
    within = spent(tenant)
    with tenant.tx():
        known = {"skill": "reply", "template_hash": "", "model": "large", "host": "", "messages": [], "total_ms": 1}
        ModelCall.objects.create(project=other, started_at=timezone.now(), cost=Decimal(10), **known)
    assert (within, spent(tenant)) == (
        "",
        "The model budget is spent: the organization’s limit of 30 USD per month for models is reached."
        " An owner can raise it under Limits.",
    )


def test_another_organization_has_its_own_budget(tenant: Tenant, stranger: Tenant) -> None:
    limit_organization(tenant, 30)
    called(tenant, cost=Decimal(30))
    called(stranger, cost=Decimal(30))
    assert (spent(stranger), bool(spent(tenant))) == ("", True)


def test_the_lower_limit_of_owner_and_operator_holds(tenant: Tenant) -> None:
    limit_organization(tenant, 30)
    operator_limit(tenant, 20)
    called(tenant, cost=Decimal(20))
    assert "Only the server administrator can raise it." in spent(tenant)


def operator_limit(tenant: Tenant, most: int) -> None:
    row = OperatorLimit(organization_id=tenant.organization.pk, limit=Limit.MONTH_COST, most=most)
    row.save(using="ops", force_insert=True)


def test_the_installations_limit_holds_for_an_organization_without_one(tenant: Tenant, settings: Any) -> None:
    settings.ORGANIZATION_LIMITS = {Limit.MONTH_COST: 10}
    called(tenant, cost=Decimal(10))
    held = spent(tenant)
    operator_limit(tenant, 50)
    assert (bool(held), spent(tenant)) == (True, "")


# The reserve


def test_the_reserve_is_a_tenth_beyond_the_limit(tenant: Tenant) -> None:
    limited(tenant, MONTH_COST_LIMIT, 20)
    found = []
    for cost in (20, 1, 1):
        called(tenant, cost=Decimal(cost))
        forget()
        found.append((bool(spent(tenant)), bool(spent(tenant, Share.RESERVE))))
    assert found == [(True, False), (True, False), (True, True)]


def test_a_limit_of_nothing_has_no_reserve(tenant: Tenant) -> None:
    limited(tenant, MONTH_COST_LIMIT, 0)
    assert spent(tenant, Share.RESERVE)


def test_full_storage_stops_the_agent_and_nobody_else(talk: Talk) -> None:
    limited(talk.tenant, STORAGE_LIMIT, 0)
    assert spent(talk.tenant) == "The storage is full: the limit of 0 MB of storage is reached. Raise it under Limits."
    assert spent(talk.tenant, Share.RESERVE) == ""


def after_a_reply(talk: Talk, processes: ForkServer, model: ScriptedModel, *, tokens: int) -> dict[str, str]:
    """The states of the flows after a reply, which spends the budget of 1,000 tokens up to here."""
    limited(talk.tenant, MONTH_TOKEN_LIMIT, 1_000)
    model.script("reply", times=1, text="I'll text you the opening hours.", ttft_ms=1_000)
    turn = talk.say("Could you text me the opening hours?")
    worker = processes.worker(queues="replies")
    talk.until_turn(turn, lambda found: found["status"] == "replying")
    called(talk.tenant, input_tokens=tokens)
    talk.until_turn(turn, lambda found: found["status"] == "done")
    worker.kill()
    processes.worker()
    settle(talk.tenant)
    with talk.tenant.tx():
        return dict(Job.objects.filter(ordinal=turn.seq).values_list("lane", "state"))


def test_what_a_reply_promised_is_detected_from_the_reserve(
    talk: Talk, processes: ForkServer, model: ScriptedModel
) -> None:
    states = after_a_reply(talk, processes, model, tokens=1_000)
    assert {lane: states[lane] for lane in ("observer", "thoughts", "tool_caller")} == {
        "observer": "skipped",
        "thoughts": "skipped",
        "tool_caller": "done",
    }


def test_without_a_reserve_the_reply_is_flagged_as_unchecked(
    talk: Talk, processes: ForkServer, model: ScriptedModel
) -> None:
    assert after_a_reply(talk, processes, model, tokens=1_200)["tool_caller"] == "failed"
    assert "was not checked for promises" in talk.reload().flag


# The handover


def over_budget(talk: Talk, *messages: str) -> list[dict[str, Any]]:
    limited(talk.tenant, MODEL_TOKEN_LIMIT, 0)
    return [talk.exchange(words) for words in messages]


def test_over_the_budget_a_person_is_asked_and_the_customer_told_once(talk: Talk, worker: Any, model: Any) -> None:
    first, second = over_budget(talk, "Hello", "Is anyone there?")
    assert [block["type"] for block in first["reply"]["blocks"]] == ["escalation_button"]
    assert second["reply"] is None
    with talk.tenant.tx():
        request = Escalation.objects.get()
        assert (request.state, request.reason.startswith("The model budget is spent")) == ("waiting", True)


def test_the_reason_is_not_shown_to_the_customer(talk: Talk, worker: Any, model: Any) -> None:
    [turn] = over_budget(talk, "Hello")
    assert "budget" not in str(turn["reply"])


def test_a_test_conversation_asks_nobody(tenant: Tenant, worker: Any, model: Any) -> None:
    with tenant.tx():
        conversation = start_conversation(
            tenant.project, channel="chat", external_id="staff", known={}, metadata={"playground": True}
        )
    over_budget(Talk(tenant, conversation), "Hello")
    with tenant.tx():
        assert not Escalation.objects.exists()
