"""Counting the rows that were stored before a trigger counted them, as a migration operation."""

from __future__ import annotations

from typing import Any

from django.db import connections, transaction
from django.db.migrations import RunPython


def count_earlier(statement: str) -> RunPython:
    """Run a statement that adds the difference between the rows of all tenants and what is counted.

    Both are read in one snapshot, and a trigger counts a row in the transaction that stores it. So the difference is
    what nobody has counted yet, also while others write. Nothing is locked.
    """

    def run(apps: Any, schema_editor: Any) -> None:
        with transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
            cursor.execute("set local statement_timeout = 0")
            cursor.execute(statement)

    return RunPython(run, RunPython.noop)
