"""Creates the roles and the database of the embedded server, or updates them, at each start."""

from __future__ import annotations

import psycopg

from config.runner.errors import StartError
from config.runner.keys import Keys
from config.runner.postgres import DATABASE, Postgres
from tenancy.roles import create_database_statement, database_statements, role_statements, schema_statements


def create_databases(postgres: Postgres, *, keys: Keys) -> None:
    """Create the roles, the database, and the grants that template1 passes on to test databases. Idempotent.

    Raises StartError if the server refuses, for example because it belongs to another data directory.
    """
    try:
        _create_all(postgres, keys=keys)
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise StartError(f"The database in {postgres.cluster} refused its preparation: {reason}") from error


def _create_all(postgres: Postgres, *, keys: Keys) -> None:
    with _connect(postgres, database="template1") as connection:
        _run(connection, role_statements(keys.roles()))
        _run(connection, ["CREATE EXTENSION IF NOT EXISTS pg_trgm", *schema_statements()])
    with _connect(postgres, database="postgres") as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if not known:
            _run(connection, [create_database_statement(DATABASE)])
    with _connect(postgres, database=DATABASE) as connection:
        _run(connection, database_statements(DATABASE))


def _connect(postgres: Postgres, *, database: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(postgres.admin_url(database=database), autocommit=True, connect_timeout=10)


def _run(connection: psycopg.Connection[tuple[object, ...]], statements: list[str]) -> None:
    for statement in statements:
        connection.execute(statement.encode())
