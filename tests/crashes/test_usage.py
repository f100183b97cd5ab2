"""Processes killed by SIGKILL while they store model calls: each stored call counts once, and no other does."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db.models import Count, Sum

from jobs.models import ModelCall, ModelUsage
from tests.conftest import Tenant
from tests.crashes.invariants import settle
from tests.crashes.test_crash_points import IN_WORKER, kill_at
from tests.processes import ForkServer, ScriptedModel

pytestmark = pytest.mark.short_leases

Sums = dict[str, tuple[int, int, int, Decimal]]


@pytest.mark.parametrize("label", IN_WORKER)
def test_each_stored_call_counts_once_when_a_worker_is_killed(
    label: str, tenant: Tenant, processes: ForkServer, model: ScriptedModel
) -> None:
    model.script("reply", times=0, text="I'll send you a text with the details.")
    kill_at(label, 1, tenant=tenant, processes=processes)
    settle(tenant)
    assert counted(tenant) == stored(tenant)
    assert {"reply", "observer", "thoughts", "detect"} <= stored(tenant).keys()


def stored(tenant: Tenant) -> Sums:
    """The sums of the stored calls, by skill."""
    return _sums(tenant, ModelCall, calls=Count("pk"))


def counted(tenant: Tenant) -> Sums:
    """The counted usage, by skill."""
    return _sums(tenant, ModelUsage, calls=Sum("calls"))


def _sums(tenant: Tenant, model: type[ModelCall] | type[ModelUsage], *, calls: Count | Sum) -> Sums:
    with tenant.tx():
        rows = model.objects.order_by().values("skill").annotate(a=calls, b=Sum("input_tokens"), c=Sum("output_tokens"))
        return {
            row["skill"]: (row["a"], row["b"], row["c"], row["d"] or Decimal(0)) for row in rows.annotate(d=Sum("cost"))
        }
