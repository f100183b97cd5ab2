"""The database goes down during requests, and comes back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from threading import Barrier

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client

from config.runner.embedded import EmbeddedServices
from outbound.tenant import NOBODY
from tenancy import threads
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.processes import until

pytestmark = pytest.mark.urls("tests.api.edge")
# A pooler hides PostgreSQL's processes, and repeats its last error for about a second.
direct = pytest.mark.skipif("MAKEGOOD_TEST_POOLER" in os.environ, reason="a pooler is between")


@pytest.fixture
def crashed_postgres(api: Client, servers: EmbeddedServices) -> Iterator[EmbeddedServices]:
    """PostgreSQL killed while connections are open, and running again afterwards."""
    assert api.get("/api/v1/notes").status_code == 200
    servers.postgres.kill()
    yield servers
    servers.postgres.start()
    forget_connections()


def forget_connections() -> None:
    """Drop every connection to the server that died, those of the database threads too."""
    everyone = Barrier(settings.DB_THREADS)

    def close() -> None:
        everyone.wait()
        connections.close_all()

    for closed in [threads._pool.submit(NOBODY, close) for _ in range(settings.DB_THREADS)]:
        closed.result()
    for connection in connections.all():
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]


def test_requests_during_the_outage_get_503_with_retry_after(api: Client, crashed_postgres: EmbeddedServices) -> None:
    response = api.get("/api/v1/notes")
    assert error_of(response, status=503)["code"] == "unavailable"
    assert response.headers["Retry-After"] == "2"


@direct
def test_requests_after_the_outage_are_served(api: Client, crashed_postgres: EmbeddedServices) -> None:
    api.get("/api/v1/notes")
    crashed_postgres.postgres.start()
    connections["default"].close()
    assert api.get("/api/v1/notes").status_code == 200


@direct
def test_a_connection_that_was_warned_of_a_crash_is_replaced(tenant: Tenant, servers: EmbeddedServices) -> None:
    """The client reads the server's last words, and only then notices that it is gone."""
    ours = connections["default"]
    ours.ensure_connection()
    backend = ours.connection.info.backend_pid
    os.kill(backend, signal.SIGQUIT)
    until(lambda: not os.path.exists(f"/proc/{backend}"), what="the end of the crashed process")
    until(servers.postgres.service.is_ready, what="the recovery of PostgreSQL")
    with tenant.tx():
        assert ours.connection.info.backend_pid != backend
    forget_connections()
