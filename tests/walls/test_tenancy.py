"""The walls at work: managers, transactions and the database, each on its own."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, connections, models, transaction

from projects.models import Attribute, Organization, Project
from projects.tenancy import NoTenant, OtherTenant, current_organization_id, is_platform, platform_scope
from tests.conftest import Tenant
from tests.walls.conftest import Filled
from tests.walls.rows import parent_of, tenant_models
from tests.walls.test_database import LOOSE, REFERENCES, rows_of

by_model = pytest.mark.parametrize("model", tenant_models(), ids=lambda model: model._meta.label)
HELD = [field for field in REFERENCES if f"{field.model._meta.db_table}.{field.column}" not in LOOSE]


def setting() -> str | None:
    return rows_of("select nullif(current_setting('app.organization_id', true), '')")[0][0]  # type: ignore[no-any-return]


# The manager


@by_model
def test_a_manager_raises_without_a_tenant(model: Any, database: None) -> None:
    for ask in (model.objects.all, model.objects.count, model.objects.first, model._default_manager.all, model):
        with pytest.raises(NoTenant):
            ask()


@by_model
def test_a_manager_adds_its_own_wall(model: Any, ours: Filled, theirs: Filled) -> None:
    """Through a role that sees everybody: the rows are ours by the manager's filter, not by the database's."""
    with ours.tenant.tx():
        owners = set(model.objects.using("ops").values_list("organization_id", flat=True))
    assert owners == {ours.tenant.organization.pk}


def test_the_raising_is_not_kept_for_the_next_caller(tenant: Tenant) -> None:
    with pytest.raises(NoTenant):
        Project.objects.all()
    with tenant.tx():
        assert Project.objects.get() == tenant.project


# The transaction


def test_another_tenant_does_not_open_inside(tenant: Tenant, stranger: Tenant) -> None:
    with tenant.tx(), pytest.raises(OtherTenant), stranger.tx():
        pytest.fail("opened")


def test_the_same_tenant_opens_inside_as_a_savepoint(tenant: Tenant) -> None:
    with tenant.tx():
        Attribute.objects.create(key="outer", type="str")
        with suppress(ZeroDivisionError), tenant.tx():
            Attribute.objects.create(key="inner", type="str")
            raise ZeroDivisionError
        assert current_organization_id() == tenant.organization.pk
        assert setting() == str(tenant.organization.pk)
    with tenant.tx():
        assert set(Attribute.objects.filter(project=None).values_list("key", flat=True)) == {"outer"}


def test_an_exception_ends_the_tenant_too(tenant: Tenant, stranger: Tenant) -> None:
    with pytest.raises(ZeroDivisionError), tenant.tx():
        raise ZeroDivisionError
    with stranger.tx():
        assert Project.objects.get() == stranger.project


def test_a_pooled_connection_carries_no_tenant(tenant: Tenant) -> None:
    """The same server process serves the next request, and knows nobody."""
    with tenant.tx():
        process = rows_of("select pg_backend_pid()")
    connection.close()
    assert rows_of("select pg_backend_pid()") == process
    assert setting() is None
    assert rows_of("select count(*) from projects_project") == [(0,)]


def test_a_rolled_back_transaction_leaves_no_tenant_either(tenant: Tenant) -> None:
    with pytest.raises(ZeroDivisionError), tenant.tx():
        raise ZeroDivisionError
    assert setting() is None


def test_a_tenants_transaction_leaves_the_platforms_scope(tenant: Tenant, stranger: Tenant) -> None:
    with platform_scope():
        assert Project.objects.count() == 2
        with tenant.tx():
            assert not is_platform()
            assert Project.objects.get() == tenant.project
            assert Project.objects.all().db == "default"
        assert Project.objects.count() == 2


# The database


@by_model
def test_the_database_shows_nothing_without_a_tenant(model: Any, ours: Filled) -> None:
    assert rows_of(f"select count(*) from {model._meta.db_table}") == [(0,)]
    assert model._base_manager.count() == 0


def test_the_database_shows_no_organization_without_a_tenant(tenant: Tenant) -> None:
    assert Organization.objects.count() == 0


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
    row = theirs.rows[model]
    row.pk, row._state.adding = uuid.uuid4(), True
    with ours.tenant.tx(), pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
        row.save(force_insert=True)


@by_model
def test_a_row_is_not_given_away(model: Any, ours: Filled, theirs: Filled) -> None:
    sql = f"update {model._meta.db_table} set organization_id = %s where id = %s"
    refused = pytest.raises(DatabaseError, match=r"row-level security|permission denied")
    with ours.tenant.tx(), connection.cursor() as cursor, refused:
        cursor.execute(sql, [theirs.tenant.organization.pk, ours.rows[model].pk])


def test_another_organization_is_neither_made_nor_renamed(tenant: Tenant, stranger: Tenant) -> None:
    with tenant.tx():
        assert Organization.objects.filter(pk=stranger.organization.pk).update(name="x") == 0
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            Organization.objects.create(name="x")


@pytest.mark.parametrize("field", HELD, ids=lambda field: f"{field.model._meta.db_table}.{field.column}")
def test_a_reference_does_not_cross(field: models.Field[Any, Any], ours: Filled, theirs: Filled) -> None:
    """Even through a role that sees every row: the key itself carries the organization."""
    table, parent = field.model._meta.db_table, theirs.rows[parent_of(field)]  # type: ignore[index]
    refused = pytest.raises(IntegrityError, match=f"{table}_{field.column}_tenant")
    with refused, transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute(f"update {table} set {field.column} = %s where id = %s", [parent.pk, ours.rows[field.model].pk])
        cursor.execute("set constraints all immediate")
