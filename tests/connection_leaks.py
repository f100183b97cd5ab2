"""Detects connections that threads never returned to their pool.

A pool has a fixed size. A leak does no harm in its own test, but blocks one that runs much later.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import Thread, current_thread
from typing import Any

from psycopg_pool import ConnectionPool


@dataclass(frozen=True)
class _Checkout:
    """A connection in use. The reference keeps it alive after its thread has ended, so that it can be returned."""

    connection: Any
    pool: ConnectionPool
    thread: Thread = field(default_factory=current_thread)
    test: str = field(default_factory=lambda: os.environ.get("PYTEST_CURRENT_TEST", "no test"))


_checkouts: dict[int, _Checkout] = {}
_take, _give_back = ConnectionPool.getconn, ConnectionPool.putconn


def track_connections() -> None:
    """Record every connection from the moment it is taken until it is returned."""
    ConnectionPool.getconn, ConnectionPool.putconn = _taken, _given_back  # type: ignore[assignment,method-assign]


def _taken(pool: ConnectionPool, timeout: float | None = None) -> Any:
    connection = _take(pool, timeout)
    _checkouts[id(connection)] = _Checkout(connection, pool)
    return connection


def _given_back(pool: ConnectionPool, connection: Any) -> None:
    _checkouts.pop(id(connection), None)
    _give_back(pool, connection)


def require_no_leaks() -> None:
    """Raise AssertionError if a thread ended without returning its connection.

    The connection is returned here, so that only one test fails.
    """
    lost = [one for one in list(_checkouts.values()) if not one.thread.is_alive()]
    for one in lost:
        one.pool.putconn(one.connection)
    assert not lost, "; ".join(f"{one.thread.name} of {one.test} ended with a connection" for one in lost)
