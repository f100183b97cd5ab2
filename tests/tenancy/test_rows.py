"""Scoped managers, row-level security and composite keys, for every model. These tests write nothing."""

from __future__ import annotations

import uuid
from contextlib import suppress
from copy import copy
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, connections, models, transaction

from projects.models import Organization
from tenancy.scope import NoTenant
from tests.tenancy.conftest import Filled, World
from tests.tenancy.rows import parent_of, tenant_models
from tests.tenancy.test_database import LOOSE, REFERENCES, name_of, rows_of

MODELS = tenant_models()
by_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
HELD = [field for field in REFERENCES if name_of(field) not in LOOSE]


@pytest.fixture
def ours(world: World) -> Filled:
    return world.ours


@pytest.fixture
def theirs(world: World) -> Filled:
    return world.theirs


@by_model
def test_a_manager_raises_without_a_tenant(model: Any) -> None:
    for ask in (model.objects.all, model.objects.count, model.objects.first, model._default_manager.all, model):
        with pytest.raises(NoTenant):
            ask()


def test_a_manager_filters_by_tenant_on_its_own(ours: Filled, theirs: Filled) -> None:
    """The connection's role sees all rows, so only the manager's filter applies."""
    with ours.tenant.tx():
        owners = {
            model._meta.label: set(model.objects.using("ops").values_list("organization_id", flat=True))
            for model in MODELS
        }
    assert {name: seen for name, seen in owners.items() if seen != {ours.tenant.organization.pk}} == {}


def test_without_a_tenant_the_database_shows_no_rows(ours: Filled) -> None:
    assert [model for model in MODELS if rows_of(f"select count(*) from {model._meta.db_table}") != [(0,)]] == []
    assert [model for model in MODELS if model._base_manager.exists()] == []


def test_the_database_shows_only_the_tenants_rows(ours: Filled, theirs: Filled) -> None:
    with ours.tenant.tx():
        shown = {
            model._meta.label: rows_of(f"select distinct organization_id from {model._meta.db_table}")
            for model in MODELS
        }
        assert list(Organization.objects.all()) == [ours.tenant.organization]
    assert {name: seen for name, seen in shown.items() if seen != [(ours.tenant.organization.pk,)]} == {}


@by_model
def test_another_tenants_row_cannot_be_changed_or_deleted(model: Any, ours: Filled, theirs: Filled) -> None:
    table, pk = model._meta.db_table, theirs.rows[model].pk
    for sql in (f"update {table} set id = id where id = %s", f"delete from {table} where id = %s"):
        # mg_app has no permission to change facts.
        with suppress(ProgrammingError), ours.tenant.tx(), connection.cursor() as cursor:
            cursor.execute(sql, [pk])
            assert cursor.rowcount == 0
    with theirs.tenant.tx():
        assert model.objects.filter(pk=pk).exists()


@by_model
def test_a_row_cannot_be_created_for_another_tenant(model: Any, ours: Filled, theirs: Filled) -> None:
    row = copy(theirs.rows[model])
    row.pk, row._state.adding = uuid.uuid4(), True
    refused = pytest.raises(DatabaseError, match=r"row-level security|permission denied")
    with ours.tenant.tx(), refused, transaction.atomic():
        row.save(force_insert=True, using="default")


@by_model
def test_a_row_cannot_be_moved_to_another_tenant(model: Any, ours: Filled, theirs: Filled) -> None:
    sql = f"update {model._meta.db_table} set organization_id = %s where id = %s"
    refused = pytest.raises(DatabaseError, match=r"row-level security|permission denied")
    with ours.tenant.tx(), connection.cursor() as cursor, refused:
        cursor.execute(sql, [theirs.tenant.organization.pk, ours.rows[model].pk])


@pytest.mark.parametrize("field", HELD, ids=name_of)
def test_a_reference_cannot_point_to_another_tenant(
    field: models.Field[Any, Any], ours: Filled, theirs: Filled
) -> None:
    """The role sees all rows, so only the composite key applies."""
    table, parent = field.model._meta.db_table, theirs.rows[parent_of(field)]  # type: ignore[index]
    refused = pytest.raises(IntegrityError, match=f"{table}_{field.column}_tenant")
    with refused, transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute(f"update {table} set {field.column} = %s where id = %s", [parent.pk, ours.rows[field.model].pk])
        cursor.execute("set constraints all immediate")
