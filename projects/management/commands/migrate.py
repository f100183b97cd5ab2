"""Runs migrations as mg_owner; the application's own role owns no tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import OperationalError, connections
from django.db.migrations.loader import MigrationLoader
from psycopg.errors import LockNotAvailable

from tenancy.migration_state import Executor

# How long a migration may wait for a lock, and for how long it is tried again.
LOCK_MS, PAUSE_SECONDS, GIVE_UP_SECONDS = 1_000, 5.0, 1_800.0
# Parsed by the runner to show progress.
TO_APPLY = "Migrations to apply:"

# Django's command has no other way to use an executor of our own.
migrate.MigrationExecutor = Executor  # type: ignore[attr-defined]


class Command(DjangoMigrate):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        executor = Executor(connections[options["database"]])
        _refuse_unknown_migrations(executor.loader)
        if options["verbosity"] >= 1:
            plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
            self.stdout.write(f"{TO_APPLY} {len(plan)}")
        self._migrate(*args, **options)

    def _migrate(self, *args: Any, **options: Any) -> None:
        """Migrate without holding up a version that runs.

        A migration that waits for a lock holds up every statement behind it. So it gives up soon, and tries again when the
        transaction or the backup that has the lock may have ended.
        """
        give_up_at = time.monotonic() + GIVE_UP_SECONDS
        while True:
            try:
                with connections[options["database"]].cursor() as cursor:
                    cursor.execute("select set_config('lock_timeout', %s, false)", [str(LOCK_MS)])
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                if time.monotonic() > give_up_at:
                    raise CommandError(
                        "A table is locked by another transaction: end it, or the backup that runs, and migrate again."
                    ) from error
                self.stdout.write("A table is in use; trying again.")
                time.sleep(PAUSE_SECONDS)


def _refuse_unknown_migrations(loader: MigrationLoader) -> None:
    """Raises CommandError if the database has migrations from another version, which would fail halfway."""
    root = Path(apps.get_app_config("projects").path).parent
    ours = {app.label for app in apps.get_app_configs() if Path(app.path).parent == root}
    unknown = sorted(key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations)
    if unknown:
        raise CommandError(
            f"Another version of Makegood made this database ({'.'.join(unknown[0])} is not a migration of this one): "
            "run that version, or restore a backup into an empty place: another database, or with bin/serve another data "
            "directory (set MAKEGOOD_DATA, or move the old one away)."
        )
