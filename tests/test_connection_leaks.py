"""A connection that a thread did not return is detected and returned to its pool."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection, connections

from tests.connection_leaks import require_no_leaks


def test_a_thread_that_ends_with_a_connection_fails_its_test(database: None) -> None:
    before = out_of_the_pool()
    careless = Thread(target=lambda: connections["default"].ensure_connection(), name="careless")
    careless.start()
    careless.join()
    with pytest.raises(AssertionError, match=r"careless of .*fails_its_test.* ended with a connection"):
        require_no_leaks()
    assert out_of_the_pool() == before


def out_of_the_pool() -> int:
    """The number of connections in use, including the one of this thread."""
    connection.ensure_connection()
    stats = connection.pool.get_stats()
    return int(stats["pool_size"] - stats["pool_available"])


def test_a_thread_that_gives_its_connection_back_fails_none(database: None) -> None:
    def work() -> None:
        connections["default"].ensure_connection()
        connections.close_all()

    careful = Thread(target=work)
    careful.start()
    careful.join()
    require_no_leaks()
