"""Checks that the migrations since a release can be applied while that release runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.db.migrations import Migration

from tenancy.migration_state import Executor
from tenancy.releases import LATEST, RELEASES
from tenancy.schema_changes import Problem, problems, read_schema

Key = tuple[str, str]


class Command(BaseCommand):
    help = (
        "Check that the migrations since a release neither lock a large table nor break the version that still runs."
        " They are applied to an empty database, which is dropped afterwards."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", choices=RELEASES, default=LATEST, help=f"the release that runs ({LATEST})")
        parser.add_argument("--list", action="store_true", help="print this version's line for tenancy.releases")

    def handle(self, *args: Any, **options: Any) -> None:
        with scratch_database():
            executor = Executor(connections["owner"])
            if options["list"]:
                self.stdout.write(repr(_last_of_ours(executor)))
                return
            found = list(_check(executor, since=options["since"]))
        for sentence in found:
            self.stderr.write(sentence)
        if found:
            raise CommandError(
                f"{len(found)} changes would stop {options['since']} while it runs. See CONTRIBUTING.md."
            )
        self.stdout.write(f"The migrations since {options['since']} can be applied while it runs.")


def _check(executor: Executor, *, since: str) -> Iterator[str]:
    """Apply the migrations since a release one by one, and describe what may not be done."""
    state = executor.migrate([*RELEASES[since].items(), *_of_other_packages(executor)])
    executor.loader.build_graph()
    for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes()):
        with connections["owner"].cursor() as cursor:
            before = read_schema(cursor)
        state = executor.migrate([(migration.app_label, migration.name)], plan=[(migration, False)], state=state)
        with connections["owner"].cursor() as cursor:
            after = read_schema(cursor)
        for problem in problems(before, after, is_atomic=bool(migration.atomic)):
            if not _is_allowed(problem, migration):
                yield f"{migration} {problem.sentence}."


def _is_allowed(problem: Problem, migration: Migration) -> bool:
    """True if a release names itself as the first that doesn't use what the migration removes."""
    return problem.removes and getattr(migration, "unused_since", "") in RELEASES


def _of_other_packages(executor: Executor) -> list[Key]:
    ours = _our_apps()
    return [key for key in executor.loader.graph.leaf_nodes() if key[0] not in ours]


def _last_of_ours(executor: Executor) -> dict[str, str]:
    ours = _our_apps()
    return dict(sorted(key for key in executor.loader.graph.leaf_nodes() if key[0] in ours))


def _our_apps() -> set[str]:
    root = Path(apps.get_app_config("projects").path).parent
    return {app.label for app in apps.get_app_configs() if Path(app.path).parent == root}


@contextmanager
def scratch_database() -> Iterator[None]:
    """An empty database of the same server, as the connection of mg_owner."""
    owner = connections["owner"]
    name, scratch = owner.settings_dict["NAME"], f"makegood_check_{os.getpid()}"
    with owner.cursor() as cursor:
        cursor.execute(f"create database {scratch}")
    try:
        _connect_to(scratch)
        yield
    finally:
        _connect_to(name)
        with owner.cursor() as cursor:
            cursor.execute(f"drop database {scratch} with (force)")


def _connect_to(database: str) -> None:
    owner: Any = connections["owner"]
    owner.close()
    owner.close_pool()
    owner.settings_dict["NAME"] = database
