"""The database backend that settings name."""

from __future__ import annotations

from typing import Any

from django.db import OperationalError
from django.db.backends.postgresql import base

from tenancy.postgresql.beginning import begin_statement
from tenancy.postgresql.prepared import command

# As on any disk without moving parts. PostgreSQL's own 4 lets it read a small table from end to end instead of finding one row by
# its key; a connection keeps that plan while the table grows, until the next `analyze`.
PLANNED_FOR = "set random_page_cost = 1.1"


class DatabaseWrapper(base.DatabaseWrapper):
    """Django begins by a switch of the driver's, which sends `begin` alone, before the first statement. Here it is sent at
    once, with the tenant: that is a round trip less for each transaction of a turn.

    What ends a transaction goes past the driver too: after each rollback it would forget what a connection has prepared.
    """

    connection: Any

    def _configure_connection(self, connection: Any) -> bool:
        """Django's hook for each new connection, the pool's too. Whether there is something to commit."""
        connection.execute(PLANNED_FOR)
        super()._configure_connection(connection)  # type: ignore[misc]  # the stubs leave it out
        return True

    def _start_transaction_under_autocommit(self) -> None:
        """Django's hook for backends that begin by a statement of their own."""
        try:
            self._send(begin_statement())
        except OperationalError:
            self._connect_anew()
            self._send(begin_statement())

    def _connect_anew(self) -> None:
        """In place of a connection that a restart of the server has broken: nothing was done on it yet."""
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
        """The driver's switch, where it doesn't stand so already."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # the stubs leave it out

    def _send(self, text: str) -> None:
        if self.connection is not None:
            with self.wrap_database_errors:
                command(self.connection, text)
