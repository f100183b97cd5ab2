"""A connection that a thread doesn't return is detected, and returned to its pool."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection, connections

from tests.connection_leaks import require_no_leaks


def test_a_leaked_connection_fails_the_test(database: None) -> None:
    before = connections_in_use()
    careless = Thread(target=lambda: connections["default"].ensure_connection(), name="careless")
    careless.start()
    careless.join()
    with pytest.raises(AssertionError, match=r"careless of .*leaked_connection_fails.* ended with a connection"):
        require_no_leaks()
    assert connections_in_use() == before


def connections_in_use() -> int:
    """The number of connections in use, including the one of this thread."""
    connection.ensure_connection()
    stats = connection.pool.get_stats()
    return int(stats["pool_size"] - stats["pool_available"])


def test_a_returned_connection_passes(database: None) -> None:
    def work() -> None:
        connections["default"].ensure_connection()
        connections.close_all()

    careful = Thread(target=work)
    careful.start()
    careful.join()
    require_no_leaks()
