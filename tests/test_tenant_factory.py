"""Copied tenants equal tenants created by the services."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conftest import Tenant, _make
from tests.tenant_factory import ID, MOMENT, NewTenant, TenantFactory, rows_of

OWN = re.compile(rf'{ID.pattern}|{MOMENT.pattern}|mg_[0-9a-f]{{8}}|"(digest|password|slug)": "[^"]+"')


def shape(made: NewTenant) -> dict[str, Any]:
    """A tenant's rows without the values that differ between tenants."""
    rows = {table: [OWN.sub("", json.dumps(row)) for row in rows] for table, rows in rows_of(made).items()}
    return {table: sorted(shapes) for table, shapes in rows.items()}


def test_a_copied_tenant_has_the_rows_of_a_created_one(database: None) -> None:
    made = _make("Nello", email="owner@nello.example")
    copied = TenantFactory(made).make('Da "Nello"', email="other@nello.example")
    renamed = json.dumps(shape(made)).replace("owner@nello", "other@nello")
    assert json.loads(renamed) == shape(copied)


def test_the_objects_of_a_copied_tenant_match_its_rows(database: None) -> None:
    copied = Tenant(
        **vars(TenantFactory(_make("Nello", email="owner@nello.example")).make("Other", email="other@nello.example"))
    )
    with copied.tx():
        for row in (copied.organization, copied.project, copied.owner, copied.project.agent_version):
            stored = type(row).objects.get(pk=row.pk)
            names = [field.attname for field in row._meta.concrete_fields]
            assert {name: getattr(row, name) for name in names} == {name: getattr(stored, name) for name in names}
