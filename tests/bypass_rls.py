"""What tests do to the database past its walls: as the superuser, and with no reference looked at and no trigger fired."""

from __future__ import annotations

from typing import Any

import psycopg

from config.runner.postgres import DATABASE, Postgres
from tests.services import services

_open: list[psycopg.Connection[tuple[Any, ...]]] = []


def bypass_rls(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement, and give its rows. A server that was restarted since is connected to again."""
    try:
        return _run(statement, values)
    except psycopg.OperationalError:
        _open.clear()
        return _run(statement, values)


def _run(statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    ran = _connection().execute(statement, values or None)
    return ran.fetchall() if ran.description else []


def _connection() -> psycopg.Connection[tuple[Any, ...]]:
    if not _open:
        postgres = services.postgres.service
        assert isinstance(postgres, Postgres)
        url = postgres.admin_url(database=DATABASE)
        _open.append(psycopg.connect(url, autocommit=True, options="-c session_replication_role=replica"))
    return _open[0]
