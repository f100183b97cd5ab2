"""Who has which connection of a pool. A thread that ends with one has lost it to the pool, which has so many and no more: enough
of them, and a test that comes much later waits for a connection that nobody gives back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from threading import Thread, current_thread
from typing import Any

from psycopg_pool import ConnectionPool


@dataclass(frozen=True)
class _Checkout:
    """Kept whole: it is collected with its thread otherwise, and the pool is never told."""

    connection: Any
    pool: ConnectionPool
    thread: Thread = field(default_factory=current_thread)
    test: str = field(default_factory=lambda: os.environ.get("PYTEST_CURRENT_TEST", "no test"))


_checkouts: dict[int, _Checkout] = {}
_take, _give_back = ConnectionPool.getconn, ConnectionPool.putconn


def track_connections() -> None:
    """Put down from now on who takes a connection, until it is given back."""
    ConnectionPool.getconn, ConnectionPool.putconn = _taken, _given_back  # type: ignore[assignment,method-assign]


def _taken(pool: ConnectionPool, timeout: float | None = None) -> Any:
    connection = _take(pool, timeout)
    _checkouts[id(connection)] = _Checkout(connection, pool)
    return connection


def _given_back(pool: ConnectionPool, connection: Any) -> None:
    _checkouts.pop(id(connection), None)
    _give_back(pool, connection)


def require_no_leaks() -> None:
    """Raises AssertionError where a thread ended with a connection. It is given back here, so that no other test suffers."""
    lost = [one for one in list(_checkouts.values()) if not one.thread.is_alive()]
    for one in lost:
        one.pool.putconn(one.connection)
    assert not lost, "; ".join(f"{one.thread.name} of {one.test} ended with a connection" for one in lost)
