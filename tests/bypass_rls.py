"""Runs statements as the superuser, without row-level security, foreign key checks or triggers."""

from __future__ import annotations

from typing import Any

import psycopg

from config.runner.postgres import DATABASE, Postgres
from tests.services import services

_open: list[psycopg.Connection[tuple[Any, ...]]] = []


def bypass_rls(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows. Reconnects if the server was restarted."""
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
