"""Every wait for PostgreSQL ends in time: for a connection, an acknowledgment, an answer and a lock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.db.utils import ConnectionHandler

from config import environment
from tenancy.postgresql.outage import outage
from tests.bypass_rls import bypass_rls
from tests.processes import until
from tests.wires.faults import CUT, LOST_ANSWERS, LOST_QUESTIONS, Fault
from tests.wires.hosts import Network

# A silence of three seconds is noticed when the system looks next.
NOTICED_SECONDS = 5
_numbers = count()
LOCK = "select pg_advisory_xact_lock(20)"


class Database:
    """One connection with the product's settings, used from a host."""

    def __init__(self, network: Network, host: str) -> None:
        self._host = network[host]
        # Pools are shared by name.
        name = f"{host} {next(_numbers)}"
        settings = {"default": {}, name: environment.database("DATABASE_URL", role="mg_app", pool=2)}
        self.connection: Any = ConnectionHandler(settings)[name]

    def run(self, statement: str) -> Any:
        with self._host.entered(), self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone()

    def close(self) -> None:
        self.connection.close()
        self.connection.close_pool()


@pytest.fixture
def database(network: Network, remote_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("DATABASE_URL", remote_env["DATABASE_URL"])
    database = Database(network, "product")
    yield database
    database.close()
    outage.is_on = False


def _is_connected(pid: int) -> bool:
    return bool(bypass_rls("select exists (select from pg_stat_activity where pid = %s)", pid)[0][0])


@contextmanager
def noticed() -> Iterator[None]:
    """Fail unless the block finds the database lost, in time."""
    began = time.monotonic()
    with pytest.raises((OperationalError, InterfaceError)):
        yield
    assert time.monotonic() - began < NOTICED_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("fault", [LOST_QUESTIONS, LOST_ANSWERS], ids=str)
def test_a_statement_on_a_silent_wire_fails(database: Database, network: Network, fault: Fault) -> None:
    database.run("select 1")
    fault.begin(network, "postgres")
    with noticed():
        database.run("select 1")


def test_a_statement_that_was_accepted_and_never_answered_fails(database: Database, network: Network) -> None:
    database.run("select 1")
    cut = threading.Timer(0.5, CUT.begin, (network, "postgres"))
    cut.start()
    with noticed():
        database.run("select pg_sleep(20)")
    cut.join()


@pytest.mark.slow
def test_a_connection_that_is_not_accepted_fails(database: Database, network: Network) -> None:
    CUT.begin(network, "postgres")
    with noticed():
        database.run("select 1")


@pytest.mark.slow
def test_the_first_statement_after_a_short_cut_gets_a_new_connection(database: Database, network: Network) -> None:
    """The system has given up the pooled one."""
    before = database.run("select pg_backend_pid()")
    database.connection.close()
    CUT.begin(network, "postgres")
    until(lambda: not _is_connected(before[0]), seconds=20, what="the end of the server's side")
    network.heal()
    assert database.run("select pg_backend_pid()") != before


def test_a_lock_of_a_client_that_fell_silent_is_released(database: Database, network: Network) -> None:
    other = Database(network, "redis")
    database.run("select 1")
    database.connection.set_autocommit(False)
    database.run(LOCK)
    CUT.begin(network, "postgres")
    began = time.monotonic()
    other.run(LOCK)
    assert time.monotonic() - began < NOTICED_SECONDS
    other.close()
    with noticed():
        database.run("select 1")


def test_a_statement_has_a_time_limit(network: Network, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_DB_STATEMENT_SECONDS", "0.2")
    limited = Database(network, "product")
    with pytest.raises(OperationalError, match="statement timeout"):
        limited.run("select pg_sleep(20)")
    limited.close()
    assert not outage.is_on
