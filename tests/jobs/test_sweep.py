"""A part of the sweep that goes through all tenants."""

from __future__ import annotations

from uuid import UUID

import pytest

from jobs.sweep import sweep_tenants
from tenancy.scope import current_organization_id
from tests.conftest import Tenant


def test_each_row_is_handled_in_its_tenant_though_another_fails(
    tenant: Tenant, stranger: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    handled: list[tuple[str, UUID | None]] = []

    def handle(word: str) -> None:
        if word == "planted":
            raise RuntimeError(word)
        handled.append((word, current_organization_id()))

    first, second = tenant.organization.pk, stranger.organization.pk
    sql = f"values ('{first}'::uuid, 'planted'), ('{first}'::uuid, 'one'), ('{second}'::uuid, 'two')"
    sweep_tenants(sql, handle, failed="A row failed")
    assert handled == [("one", first), ("two", second)]
    assert caplog.messages == [f"A row failed: organization {first}, planted."]
