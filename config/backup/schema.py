"""The schema of a backup, built by the migrations of this version: `python -m config.backup.schema known|build`.

A process of its own, because Django's settings need the database that the restore chooses.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys

import django
from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from tenancy.migration_state import Executor

Key = tuple[str, str]


def known() -> list[Key]:
    """Every migration of this version. Needs no database, and loads no models, which would take seconds."""
    found: list[Key] = []
    for app in map(AppConfig.create, settings.INSTALLED_APPS):
        try:
            folder = importlib.import_module(f"{app.name}.migrations")
        except ModuleNotFoundError:
            continue
        found += [(app.label, file.name) for file in pkgutil.iter_modules(folder.__path__) if not file.ispkg]
    return sorted(found)


def build(applied: set[Key]) -> None:
    """Apply exactly these migrations to an empty database."""
    executor = Executor(connections["owner"])
    executor.migrate(last_of_each_app(executor.loader, applied))


def last_of_each_app(loader: MigrationLoader, applied: set[Key]) -> list[Key]:
    """The migrations of the set that no other of their app in the set follows."""
    graph = loader.graph
    followed = {parent.key for key in applied for parent in graph.node_map[key].parents if parent.key[0] == key[0]}
    return sorted(applied - followed)


def main() -> None:
    if sys.argv[1] == "known":
        print(json.dumps(known()))
    else:
        django.setup()
        build({(app, name) for app, name in json.load(sys.stdin)})


if __name__ == "__main__":
    main()
