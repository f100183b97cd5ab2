"""A backup is one snapshot, with every row, or it is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from config.backup.dump import connect, dump
from config.backup.errors import BackupError
from config.backup.frames import Frame, Kind
from conversations.models import Persona
from tests.backup.conftest import empty_place, secrets
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant

TABLE = "conversations_persona"


def frames(*, using: str = "OPS_DATABASE_URL") -> Iterator[Frame]:
    with connect(os.environ[using]) as connection:
        yield from dump(connection, version="0.1.0", secrets=secrets())


@contextmanager
def changed(statement: str, back: str) -> Iterator[None]:
    """A change to the schema, for the time of a test."""
    bypass_rls(statement)
    try:
        yield
    finally:
        bypass_rls(back)


def test_rows_that_are_written_during_a_backup_are_not_in_it(tenant: Tenant) -> None:
    with tenant.tx():
        Persona.objects.create(project=tenant.project, external_id="before")
    dumped = frames()
    whole = [next(dumped)]
    with tenant.tx():
        Persona.objects.create(project=tenant.project, external_id="during")
    rows = b"".join(frame.payload for frame in (*whole, *dumped) if frame.kind is Kind.ROWS)
    assert b"\tbefore\t" in rows
    assert b"\tduring\t" not in rows


def test_a_migration_waits_for_a_backup(tenant: Tenant) -> None:
    """The tables keep their columns until the last one is read."""
    dumped = frames()
    next(dumped)
    with psycopg.connect(os.environ["MIGRATE_DATABASE_URL"]) as owner:
        owner.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            owner.execute(f"alter table {TABLE} add column another int")
    dumped.close()


@pytest.mark.parametrize("role", ["DATABASE_URL", "MIGRATE_DATABASE_URL"])
def test_a_role_that_sees_one_tenant_is_refused(tenant: Tenant, role: str) -> None:
    """pg_dump --enable-row-security would write an empty dump and report success."""
    with pytest.raises(BackupError, match=r"Row-level security hides rows of .* and [0-9]+ more tables from this role"):
        list(frames(using=role))


@pytest.mark.parametrize(
    ("statement", "back"),
    [
        (f"drop policy ops on {TABLE}", f"create policy ops on {TABLE} to mg_ops using (true) with check (true)"),
        (f"alter policy ops on {TABLE} using (merged_into_id is null)", f"alter policy ops on {TABLE} using (true)"),
        (
            f"create policy few on {TABLE} as restrictive to mg_ops using (false)",
            f"drop policy few on {TABLE}",
        ),
        (f"revoke select on {TABLE} from mg_ops", f"grant select on {TABLE} to mg_ops"),
    ],
    ids=["no policy", "a policy for some", "a restriction", "no right"],
)
def test_a_table_with_hidden_rows_is_refused(tenant: Tenant, statement: str, back: str) -> None:
    with changed(statement, back), pytest.raises(BackupError, match=f"hides rows of {TABLE} from this role"):
        list(frames())


def test_an_empty_database_is_refused(database: None) -> None:
    with (
        empty_place("nothing") as place,
        connect(place.env["OPS_DATABASE_URL"]) as connection,
        pytest.raises(BackupError, match="There is nothing to back up"),
    ):
        list(dump(connection, version="0.1.0", secrets=secrets()))
