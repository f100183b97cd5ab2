"""Erasures, run by the lane's code in this process."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from jobs.models import Job, State
from privacy.erasure.request import request_erasure
from privacy.models import Erasure
from tests.conftest import Tenant
from tests.lane_runs import run_lanes


def run_erasures() -> None:
    """Run every due erasure in this process."""
    run_lanes("erasure")


def hasten(tenant: Tenant) -> None:
    """Make waiting jobs due."""
    with tenant.tx():
        Job.objects.filter(state=State.QUEUED).update(run_after=timezone.now() - timedelta(seconds=1))


def erase(tenant: Tenant, persona_id) -> Erasure:
    """Erase a customer, to the end."""
    with tenant.tx():
        erasure = request_erasure(tenant.project, persona_id, actor="test")
    run_erasures()
    return reload(tenant, erasure)


def reload(tenant: Tenant, erasure: Erasure) -> Erasure:
    with tenant.tx():
        return Erasure.objects.get(pk=erasure.pk)
