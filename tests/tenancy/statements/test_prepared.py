"""Prepared statements: their results, and how long a connection keeps them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC
from uuid import uuid4

import pytest
from django.db import DataError, OperationalError, connection, transaction

from projects.models import Project
from tenancy.postgresql.prepared import MOST_PREPARED, Prepared
from tenancy.threads import _in_thread

PREPARED = "select count(*) from pg_prepared_statements where name like 'makegood%'"


def count() -> int:
    with connection.cursor() as cursor:
        cursor.execute(PREPARED)
        return int(cursor.fetchone()[0])


@pytest.fixture
def named() -> Prepared:
    """A statement that no connection has prepared yet."""
    return Prepared("select name from projects_project where id = %s")


def test_values_are_loaded_as_models_expect_them(tenant):
    """UUIDs and datetimes are loaded. JSON stays text, for the field to parse."""
    statement = Prepared(
        "select %s::uuid, created_at, %s::jsonb, %s::int, %s::text from projects_project where id = %s"
    )
    some = uuid4()
    with tenant.tx():
        [row] = statement(some, '{"a": 1}', 3, None, tenant.project.pk)
        [created_at] = Project.objects.values_list("created_at", flat=True)
    assert row == (some, created_at, '{"a": 1}', 3, None)
    assert row[1].tzinfo is UTC


def test_prepared_statements_survive_a_rollback(tenant, named):
    """Preparing again after each rollback would cost more than the statements."""
    with tenant.tx():
        named(tenant.project.pk)
        known = count()
    with pytest.raises(DataError), tenant.tx():
        named("no identifier")
    with tenant.tx():
        with pytest.raises(DataError), transaction.atomic():
            named("no identifier")
        assert Project.objects.count() == 1
        assert named(tenant.project.pk) == [(tenant.project.name,)]
        assert count() == known


def test_the_number_of_prepared_statements_is_limited(tenant):
    with tenant.tx():
        for number in range(MOST_PREPARED + 5):
            assert Prepared(f"select {number}")() == [(number,)]
        assert count() == MOST_PREPARED


def test_a_broken_connection_is_replaced_for_the_next_call(tenant, named):
    def ask() -> list[tuple[str]]:
        with tenant.tx():
            return named(tenant.project.pk)

    def break_off() -> None:
        with tenant.tx():
            named(tenant.project.pk)
            Prepared("select pg_terminate_backend(pg_backend_pid())")()

    with pytest.raises(OperationalError):
        _in_thread("default", break_off)
    assert _in_thread("default", ask) == [(tenant.project.name,)]


def test_a_server_restart_between_two_calls_goes_unnoticed(tenant, named):
    """Nothing was done on the broken connection yet, so it can be replaced."""

    def ask() -> tuple[int, str]:
        with tenant.tx():
            [(pid,)] = Prepared("select pg_backend_pid()")()
            return pid, named(tenant.project.pk)[0][0]

    before, _ = _in_thread("default", ask)
    other = connection.copy()
    with closing(other), other.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s, 5000)", [before])
    after, name = _in_thread("default", ask)
    assert (after != before, name) == (True, tenant.project.name)


def test_a_server_restart_between_two_statements_without_a_transaction_goes_unnoticed(tenant):
    ask = Prepared("select pg_backend_pid()")
    [(before,)] = _in_thread("default", ask)
    other = connection.copy()
    with closing(other), other.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s, 5000)", [before])
    [(after,)] = _in_thread("default", ask)
    assert after != before
