"""The migrations match the models, and refuse a database of another version."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder

from projects.management.commands import migrate


@pytest.fixture
def unknown_migration(database: None) -> Iterator[None]:
    """The database records a migration that doesn't exist."""
    recorder = MigrationRecorder(connections["owner"])
    recorder.record_applied("jobs", "0002_walls")
    yield
    recorder.record_unapplied("jobs", "0002_walls")


def test_no_migration_is_missing(database: None) -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


@pytest.mark.usefixtures("unknown_migration")
def test_a_database_of_another_version_is_rejected() -> None:
    with pytest.raises(CommandError, match=r"jobs\.0002_walls is not a migration of this one\): run that version"):
        call_command("migrate", verbosity=0)


def test_a_locked_table_holds_up_no_other_statement(database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The migration gives up its place in the queue, and tries again until the lock is free."""
    monkeypatch.setattr(migrate, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(migrate, "LOCK_MS", 50)
    tries: list[int] = []

    def handle(command: DjangoMigrate, *args: Any, **options: Any) -> None:
        if len(tries) == 2:
            other.rollback()
        tries.append(len(tries))
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute("lock table django_migrations in access exclusive mode")

    with psycopg.connect(os.environ["MIGRATE_DATABASE_URL"]) as other:
        other.execute("select from django_migrations limit 1")
        monkeypatch.setattr(DjangoMigrate, "handle", handle)
        call_command("migrate", verbosity=0)
    assert len(tries) == 3


def test_migrations_of_other_packages_may_be_unknown(database: None) -> None:
    recorder = MigrationRecorder(connections["owner"])
    recorder.record_applied("gone", "0001_initial")
    call_command("migrate", verbosity=0)
    recorder.record_unapplied("gone", "0001_initial")
