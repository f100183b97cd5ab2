"""Reads the whole database in one snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
from psycopg import sql

from config.backup.catalog import (
    Connection,
    Table,
    lock_tables,
    read_migrations,
    read_sequences,
    read_tables,
    require_full_view,
)
from config.backup.errors import BackupError
from config.backup.frames import BLOCK, Frame, Kind
from config.backup.manifest import Manifest, Secrets

# Values as text that every server reads the same way. The role's limits on long statements don't apply.
SESSION = """
set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '60s';
set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
set bytea_output = 'hex'; set client_encoding = 'UTF8'; set search_path = ''
"""
SNAPSHOT = "begin isolation level repeatable read, read only"


def connect(url: str) -> Connection:
    """A connection whose values have one text form. Raises BackupError if the server refuses."""
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=10, application_name="makegood backup")
        connection.execute(SESSION)
    except psycopg.Error as error:
        raise BackupError(f"The database refused the connection: {first_line(error)}.") from error
    return connection


def first_line(error: Exception) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).strip().splitlines() or ["no reason given"])[0].rstrip(".")


def dump(connection: Connection, *, version: str, secrets: Secrets, with_secrets: bool = True) -> Iterator[Frame]:
    """The frames of a backup. Raises BackupError if a row may be hidden, or if the database is empty."""
    connection.execute(SNAPSHOT)
    tables = read_tables(connection)
    if "django_migrations" not in {table.name for table in tables}:
        raise BackupError("There is nothing to back up: this database has no tables of Makegood.")
    require_full_view(connection)
    lock_tables(connection, tables)
    manifest = Manifest(
        version=version,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        migrations=tuple(read_migrations(connection)),
        tables=tuple(tables),
        sequences=read_sequences(connection),
        sample=secrets.sample(),
        secrets=secrets if with_secrets else None,
    )
    yield Frame(Kind.MANIFEST, manifest.to_json())
    for table in tables:
        yield Frame(Kind.TABLE, json.dumps(table.name).encode())
        yield from _rows(connection, table)
    yield Frame(Kind.END, json.dumps(len(tables)).encode())
    connection.execute("commit")


def _rows(connection: Connection, table: Table) -> Iterator[Frame]:
    """The rows in blocks, then their count. Raises BackupError if the server copied more rows than arrived."""
    statement = sql.SQL("copy {} ({}) to stdout").format(table.identifier, table.column_list)
    arrived, block = 0, bytearray()
    with connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            for row in copy:
                block += row
                arrived += 1
                if len(block) >= BLOCK:
                    yield Frame(Kind.ROWS, bytes(block))
                    block.clear()
        if cursor.rowcount != arrived:
            raise BackupError(f"Only {arrived} of {cursor.rowcount} rows of {table.name} arrived: run it again.")
    if block:
        yield Frame(Kind.ROWS, bytes(block))
    yield Frame(Kind.COUNT, json.dumps(arrived).encode())
