"""The database backend (`ENGINE = "tenancy.postgresql"`)."""

from __future__ import annotations

import select
import time
from typing import Any

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.pq import ConnStatus
from psycopg_pool import PoolTimeout

from tenancy.postgresql.outage import Outage, outage, replica_outage
from tenancy.postgresql.pooled import require_role_settings
from tenancy.postgresql.prepared import command
from tenancy.postgresql.schema import SchemaEditor
from tenancy.postgresql.transaction_begin import begin_statement

# A statement that took this long and lost its connection had no answer. A server that ends closes its connections.
SILENT_SECONDS = 1.0
# How long a request waits for a connection during an outage. The pool goes on trying for the next request.
ATTEMPT_SECONDS = 1.0


class ErrorWrapper(DatabaseErrorWrapper):
    """Django's translation of errors, which also notes an outage when a connection falls silent."""

    wrapper: DatabaseWrapper

    def __init__(self, wrapper: DatabaseWrapper) -> None:
        super().__init__(wrapper)
        self._entered_at = 0.0

    def __enter__(self) -> None:
        self._entered_at = time.monotonic()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        is_lost = kind is not None and issubclass(kind, psycopg.OperationalError) and self.wrapper.is_broken
        if is_lost and time.monotonic() - self._entered_at >= SILENT_SECONDS:
            self.wrapper.begin_outage()
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Begins, commits and rolls back with statements of its own instead of psycopg's autocommit switch.

    Django turns autocommit off, and psycopg sends `begin` before the first statement. Here `begin` is sent at once,
    together with the tenant, which saves a round trip per transaction. Rollbacks bypass psycopg too, because it would
    discard the connection's prepared statements.
    """

    connection: Any
    SchemaEditorClass = SchemaEditor

    @cached_property
    def wrap_database_errors(self) -> ErrorWrapper:
        return ErrorWrapper(self)

    @property
    def _outage(self) -> Outage:
        """The outage of this connection's server."""
        return replica_outage if self.alias == "replica" else outage

    @property
    def is_broken(self) -> bool:
        """True if there is a connection that the client library has given up."""
        return self.connection is not None and self.connection.pgconn.status != ConnStatus.OK

    def begin_outage(self) -> None:
        """Let one thread at a time connect, and drop the pool's connections, which don't answer either."""
        if not self._outage.is_on:
            self._outage.begin()
            if self.pool:
                self.pool.drain()

    def get_new_connection(self, conn_params: Any) -> Any:
        """Django's hook. During an outage, only one thread at a time waits for a connection."""
        with self._outage.attempt():
            failures = self._failed_attempts()
            try:
                return self._take_connection(conn_params)
            except PoolTimeout:
                # Without a failed attempt, the pool is busy.
                if self._failed_attempts() > failures:
                    self.begin_outage()
                raise

    def _take_connection(self, conn_params: Any) -> Any:
        """A connection that is open as far as this machine knows. The pool replaces those that are not."""
        if not self.pool:
            return super().get_new_connection(conn_params)
        self.isolation_level = IsolationLevel.READ_COMMITTED
        self.pool.open()
        timeout = ATTEMPT_SECONDS if self._outage.is_on else None
        while _has_ended(connection := self.pool.getconn(timeout)):
            self.pool.putconn(connection)
        return connection

    def _failed_attempts(self) -> int:
        return int(self.pool.get_stats().get("connections_errors", 0)) if self.pool else 0

    def _configure_connection(self, connection: Any) -> bool:
        """Django's hook for new connections, including the pool's. Returns True if there is something to commit."""
        settings = self.settings_dict["SESSION"]
        if self.settings_dict["IS_POOLED"]:
            require_role_settings(connection, settings)
        else:
            connection.execute("; ".join(f"set {name} = {value}" for name, value in settings.items()))
        super()._configure_connection(connection)  # type: ignore[misc]  # missing from the stubs
        return True

    def _start_transaction_under_autocommit(self) -> None:
        """Django's hook for backends that begin transactions with a statement of their own."""
        if self._outage.is_on:
            self._reconnect()
        try:
            self.run_command(begin_statement())
        except OperationalError:
            if self._outage.is_on:
                raise
            self._reconnect()
            self.run_command(begin_statement())

    def require_open(self) -> None:
        """Connect, or replace a connection that a restart of the server has closed, outside of a transaction."""
        self.ensure_connection()
        if not self.in_atomic_block and _has_ended(self.connection):
            self._reconnect()

    def _reconnect(self) -> None:
        """Replace a connection that a restart of the server has closed. Nothing was done on it yet."""
        with self.wrap_database_errors:
            self.close()
            self.connect()

    def _commit(self) -> None:
        self.run_command("commit")

    def _rollback(self) -> None:
        self.run_command("rollback")

    def _savepoint_rollback(self, sid: str) -> None:
        self.run_command(self.ops.savepoint_rollback_sql(sid))

    def _set_autocommit(self, autocommit: bool) -> None:
        """Set psycopg's autocommit only if it differs."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # missing from the stubs

    def run_command(self, text: str) -> None:
        """Run a statement that begins, sets up or ends a transaction."""
        if self.connection is not None:
            with self.wrap_database_errors:
                command(self.connection, text)


def _has_ended(connection: Any) -> bool:
    """True if the server has closed the connection or the system has given it up. Costs no round trip.

    Nothing arrives on an idle connection that is open. Closes the connection if it has ended.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if not poll.poll(0):
        return False
    connection.close()
    return True
