"""The faster state of the models gives the same tables as Django's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from projects.management.commands.check_migrations import scratch_database
from tenancy.migration_state import Executor

pytestmark = pytest.mark.whole

# The default of a column that another package adds
NOW = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00:00")


def statements_of(executor: type[MigrationExecutor]) -> list[str]:
    """The statements with which an executor migrates an empty database."""
    found: list[str] = []

    def note(execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        found.append(NOW.sub("now", f"{sql} {parameters}"))
        return execute(sql, parameters, many, context)

    with scratch_database():
        applied = executor(connections["owner"])
        with connections["owner"].execute_wrapper(note):
            applied.migrate(applied.loader.graph.leaf_nodes())
    return [one for one in found if "django_migrations" not in one]


@pytest.mark.usefixtures("_schema")
def test_migrations_run_the_same_statements_as_with_djangos_state() -> None:
    expected = statements_of(MigrationExecutor)
    assert statements_of(Executor) == expected
    assert sum("CREATE TABLE" in one for one in expected) > 90
