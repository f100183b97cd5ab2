"""The migrations match the models, and refuse a database of another version."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder


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
    with pytest.raises(CommandError, match=r"jobs\.0002_walls is not a migration of this one\): use an empty database"):
        call_command("migrate", verbosity=0)


def test_migrations_of_other_packages_may_be_unknown(database: None) -> None:
    recorder = MigrationRecorder(connections["owner"])
    recorder.record_applied("gone", "0001_initial")
    call_command("migrate", verbosity=0)
    recorder.record_unapplied("gone", "0001_initial")
