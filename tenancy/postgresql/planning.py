"""How PostgreSQL plans the statements of a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from django.db import connections

from tenancy.postgresql.prepared import reports_alias

if TYPE_CHECKING:
    from tenancy.postgresql.base import DatabaseWrapper


@contextmanager
def planned_for_values() -> Iterator[None]:
    """Plan each statement inside for the values it is run with. Call it in a transaction.

    PostgreSQL plans a prepared statement for all values once it has run a few times. That plan reads a list from its
    newest row on, because it can't know that few rows match, and it can't use an index of only the rows that match.
    """
    wrapper = cast("DatabaseWrapper", connections[reports_alias.get()])
    wrapper.run_command("set local plan_cache_mode = force_custom_plan")
    yield
    # After an error, the transaction ends and takes the setting along.
    wrapper.run_command("set local plan_cache_mode = auto")
