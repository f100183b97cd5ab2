"""Tenant transactions: nesting, and the state that they leave behind."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import DatabaseError, connection, transaction

from projects.models import Attribute, Organization, Project
from tenancy.scope import NoTenant, OtherTenant, current_organization_id, is_platform, platform_scope
from tests.conftest import Tenant
from tests.tenancy.test_database import rows_of


def setting() -> str | None:
    return rows_of("select nullif(current_setting('app.organization_id', true), '')")[0][0]  # type: ignore[no-any-return]


def test_an_error_does_not_affect_the_next_transaction(tenant: Tenant) -> None:
    with pytest.raises(NoTenant):
        Project.objects.all()
    with tenant.tx():
        assert Project.objects.get() == tenant.project


def test_another_tenants_transaction_cannot_be_nested(tenant: Tenant, stranger: Tenant) -> None:
    with tenant.tx(), pytest.raises(OtherTenant), stranger.tx():
        pytest.fail("opened")


def test_nesting_the_same_tenant_creates_a_savepoint(tenant: Tenant) -> None:
    with tenant.tx():
        Attribute.objects.create(key="outer", type="str")
        with suppress(ZeroDivisionError), tenant.tx():
            Attribute.objects.create(key="inner", type="str")
            raise ZeroDivisionError
        assert current_organization_id() == tenant.organization.pk
        assert setting() == str(tenant.organization.pk)
    with tenant.tx():
        assert set(Attribute.objects.filter(project=None).values_list("key", flat=True)) == {"outer"}


def test_an_exception_resets_the_tenant(tenant: Tenant, stranger: Tenant) -> None:
    with pytest.raises(ZeroDivisionError), tenant.tx():
        raise ZeroDivisionError
    with stranger.tx():
        assert Project.objects.get() == stranger.project


def test_a_pooled_connection_keeps_no_tenant(tenant: Tenant) -> None:
    """The same server process serves the next request."""
    connection.close()
    connection.close_pool()
    with tenant.tx():
        process = rows_of("select pg_backend_pid()")
    connection.close()
    assert rows_of("select pg_backend_pid()") == process
    assert setting() is None
    assert rows_of("select count(*) from projects_project") == [(0,)]


def test_a_rollback_resets_the_tenant(tenant: Tenant) -> None:
    with pytest.raises(ZeroDivisionError), tenant.tx():
        raise ZeroDivisionError
    assert setting() is None


def test_a_tenants_transaction_leaves_the_platform_scope(tenant: Tenant, stranger: Tenant) -> None:
    with platform_scope():
        assert Project.objects.count() == 2
        with tenant.tx():
            assert not is_platform()
            assert Project.objects.get() == tenant.project
            assert Project.objects.all().db == "default"
        assert Project.objects.count() == 2


def test_without_a_tenant_the_database_shows_no_organization(tenant: Tenant) -> None:
    assert Organization.objects.count() == 0


def test_another_organization_cannot_be_created_or_renamed(tenant: Tenant, stranger: Tenant) -> None:
    with tenant.tx():
        assert Organization.objects.filter(pk=stranger.organization.pk).update(name="x") == 0
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            Organization.objects.create(name="x")
