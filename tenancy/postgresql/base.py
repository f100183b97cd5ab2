"""The database backend (`ENGINE = "tenancy.postgresql"`)."""

from __future__ import annotations

from typing import Any

from django.db import OperationalError
from django.db.backends.postgresql import base

from tenancy.postgresql.prepared import command
from tenancy.postgresql.transaction_begin import begin_statement

# The usual value for SSDs. With PostgreSQL's default of 4, a small table is scanned instead of searched by its key, and
# a connection keeps that plan while the table grows, until the next `analyze`.
PLANNER_SETTINGS = "set random_page_cost = 1.1"


class DatabaseWrapper(base.DatabaseWrapper):
    """Begins, commits and rolls back with statements of its own instead of psycopg's autocommit switch.

    Django turns autocommit off, and psycopg sends `begin` before the first statement. Here `begin` is sent at once,
    together with the tenant, which saves a round trip per transaction. Rollbacks bypass psycopg too, because it would
    discard the connection's prepared statements.
    """

    connection: Any

    def _configure_connection(self, connection: Any) -> bool:
        """Django's hook for new connections, including the pool's. Returns True if there is something to commit."""
        connection.execute(PLANNER_SETTINGS)
        super()._configure_connection(connection)  # type: ignore[misc]  # missing from the stubs
        return True

    def _start_transaction_under_autocommit(self) -> None:
        """Django's hook for backends that begin transactions with a statement of their own."""
        try:
            self._send(begin_statement())
        except OperationalError:
            self._reconnect()
            self._send(begin_statement())

    def _reconnect(self) -> None:
        """Replace a connection that a restart of the server has closed. Nothing was done on it yet."""
        with self.wrap_database_errors:
            self.close()
            if self.pool:
                self.pool.check()
            self.connect()

    def _commit(self) -> None:
        self._send("commit")

    def _rollback(self) -> None:
        self._send("rollback")

    def _savepoint_rollback(self, sid: str) -> None:
        self._send(self.ops.savepoint_rollback_sql(sid))

    def _set_autocommit(self, autocommit: bool) -> None:
        """Set psycopg's autocommit only if it differs."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # missing from the stubs

    def _send(self, text: str) -> None:
        if self.connection is not None:
            with self.wrap_database_errors:
                command(self.connection, text)
