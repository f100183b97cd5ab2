"""The manager, row-level security and the composite keys at work, for every model. Nothing is written here."""

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
from tests.tenancy.test_database import LOOSE, REFERENCES, rows_of

by_model = pytest.mark.parametrize("model", tenant_models(), ids=lambda model: model._meta.label)
HELD = [field for field in REFERENCES if f"{field.model._meta.db_table}.{field.column}" not in LOOSE]


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


@by_model
def test_a_manager_adds_its_own_wall(model: Any, ours: Filled, theirs: Filled) -> None:
    """Through a role that sees everybody: the rows are ours by the manager's filter, not by the database's."""
    with ours.tenant.tx():
        owners = set(model.objects.using("ops").values_list("organization_id", flat=True))
    assert owners == {ours.tenant.organization.pk}


@by_model
def test_the_database_shows_nothing_without_a_tenant(model: Any, ours: Filled) -> None:
    assert rows_of(f"select count(*) from {model._meta.db_table}") == [(0,)]
    assert model._base_manager.count() == 0


@by_model
def test_the_database_shows_one_tenant_only(model: Any, ours: Filled, theirs: Filled) -> None:
    with ours.tenant.tx():
        assert rows_of(f"select distinct organization_id from {model._meta.db_table}") == [
            (ours.tenant.organization.pk,)
        ]
        assert list(Organization.objects.all()) == [ours.tenant.organization]


@by_model
def test_a_row_of_another_tenant_is_neither_changed_nor_deleted(model: Any, ours: Filled, theirs: Filled) -> None:
    table, pk = model._meta.db_table, theirs.rows[model].pk
    for sql in (f"update {table} set id = id where id = %s", f"delete from {table} where id = %s"):
        # A fact may not even be tried: mg_app has no right to.
        with suppress(ProgrammingError), ours.tenant.tx(), connection.cursor() as cursor:
            cursor.execute(sql, [pk])
            assert cursor.rowcount == 0
    with theirs.tenant.tx():
        assert model.objects.filter(pk=pk).exists()


@by_model
def test_a_row_is_not_written_for_another_tenant(model: Any, ours: Filled, theirs: Filled) -> None:
    row = copy(theirs.rows[model])
    row.pk, row._state.adding = uuid.uuid4(), True
    with ours.tenant.tx(), pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
        row.save(force_insert=True)


@by_model
def test_a_row_is_not_given_away(model: Any, ours: Filled, theirs: Filled) -> None:
    sql = f"update {model._meta.db_table} set organization_id = %s where id = %s"
    refused = pytest.raises(DatabaseError, match=r"row-level security|permission denied")
    with ours.tenant.tx(), connection.cursor() as cursor, refused:
        cursor.execute(sql, [theirs.tenant.organization.pk, ours.rows[model].pk])


@pytest.mark.parametrize("field", HELD, ids=lambda field: f"{field.model._meta.db_table}.{field.column}")
def test_a_reference_does_not_cross(field: models.Field[Any, Any], ours: Filled, theirs: Filled) -> None:
    """Even through a role that sees every row: the key itself carries the organization."""
    table, parent = field.model._meta.db_table, theirs.rows[parent_of(field)]  # type: ignore[index]
    refused = pytest.raises(IntegrityError, match=f"{table}_{field.column}_tenant")
    with refused, transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute(f"update {table} set {field.column} = %s where id = %s", [parent.pk, ours.rows[field.model].pk])
        cursor.execute("set constraints all immediate")
