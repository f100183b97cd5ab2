"""Usage: the sums of stored model calls, each counted once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from jobs.models import ModelCall, ModelUsage
from jobs.usage import Part, read_usage, total_of
from tenancy.counted import count_earlier
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant

COUNT = import_module("jobs.migrations.0006_earlier_calls").COUNT
LONG_AGO, LATER = date(2026, 1, 1), date(2200, 1, 1)


def call(**fields: Any) -> dict[str, Any]:
    known = {"skill": "reply", "template_hash": "", "model": "large", "host": "", "messages": [], "total_ms": 1}
    return {"started_at": timezone.now(), **known, **fields}


def store(tenant: Tenant, *calls: dict[str, Any]) -> None:
    """Store calls in one statement."""
    with tenant.tx():
        ModelCall.objects.bulk_create(ModelCall(project=tenant.project, **one) for one in calls)


def usage(tenant: Tenant, *parts: Part) -> Any:
    with tenant.tx():
        return read_usage(LONG_AGO, LATER, *parts, project_id=tenant.project.pk)


def used(tenant: Tenant, day: date, **sums: Any) -> None:
    """Usage of an earlier day."""
    known = {"input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "unpriced_tokens": 0, "cost": 0, "calls": 1}
    with tenant.tx():
        ModelUsage.objects.create(
            project=tenant.project, day=day, model="large", skill="reply", slot=0, **{**known, **sums}
        )


def test_a_stored_call_is_counted(tenant: Tenant) -> None:
    store(tenant, call(input_tokens=100, cached_tokens=40, output_tokens=7, cost=Decimal("0.0123")))
    [found] = usage(tenant, Part.MODEL)
    assert (found.calls, found.input_tokens, found.cached_tokens, found.output_tokens) == (1, 100, 40, 7)
    assert (found.cost, found.unpriced_tokens) == (Decimal("0.0123"), 0)


def test_calls_without_a_price_count_their_tokens(tenant: Tenant) -> None:
    store(tenant, call(input_tokens=100, output_tokens=7), call(input_tokens=1, cost=Decimal(0)))
    assert total_of(usage(tenant, Part.MODEL)).unpriced_tokens == 107


def test_a_call_that_is_rolled_back_is_not_counted(tenant: Tenant) -> None:
    with pytest.raises(DatabaseError), tenant.tx(), transaction.atomic():
        ModelCall.objects.create(project=tenant.project, **call())
        ModelCall.objects.create(project=tenant.project, **call(model="x" * 200))
    assert usage(tenant, Part.MODEL) == []


def test_a_deleted_call_stays_counted(tenant: Tenant) -> None:
    store(tenant, call(input_tokens=100))
    with tenant.tx():
        ModelCall.objects.all().delete()
    assert total_of(usage(tenant, Part.MODEL)).calls == 1


def test_usage_is_divided_by_model_and_purpose(tenant: Tenant) -> None:
    store(tenant, call(), call(model="small", skill="observer"), call(skill="thoughts"))
    assert {(row.model, row.purpose, row.calls) for row in usage(tenant, Part.MODEL, Part.PURPOSE)} == {
        ("large", "reply", 1),
        ("large", "thoughts", 1),
        ("small", "observer", 1),
    }


def test_a_month_is_the_sum_of_its_days(tenant: Tenant) -> None:
    for day, calls in ((date(2026, 7, 1), 2), (date(2026, 7, 31), 3), (date(2026, 8, 1), 4)):
        used(tenant, day, calls=calls)
    assert [(row.month, row.calls) for row in usage(tenant, Part.MONTH)] == [
        (date(2026, 8, 1), 4),
        (date(2026, 7, 1), 5),
    ]


def test_another_project_and_another_organization_count_apart(tenant: Tenant, stranger: Tenant) -> None:
    store(tenant, call())
    store(stranger, call(), call())
    assert total_of(usage(tenant, Part.MODEL)).calls == 1


def test_earlier_calls_are_counted_once(tenant: Tenant) -> None:
    """Calls from before the trigger, beside those that it counted."""
    store(tenant, call(input_tokens=10), call(input_tokens=10))
    bypass_rls("alter table jobs_modelcall disable trigger count_model_calls")
    store(tenant, call(input_tokens=5), call(input_tokens=5, skill="observer"))
    bypass_rls("alter table jobs_modelcall enable trigger count_model_calls")
    for _ in range(2):
        count_earlier(COUNT).code(None, None)
    assert {(row.purpose, row.calls, row.input_tokens) for row in usage(tenant, Part.PURPOSE)} == {
        ("reply", 3, 25),
        ("observer", 1, 5),
    }


def test_days_are_those_of_utc(tenant: Tenant) -> None:
    store(tenant, call(started_at=datetime.now(UTC) - timedelta(days=3)))
    [row] = usage(tenant, Part.DAY)
    assert abs((row.day - datetime.now(UTC).date()).days) <= 1
