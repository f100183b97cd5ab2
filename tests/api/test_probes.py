"""The probes of load balancers and orchestrators, which know an address and no name of the site."""

from __future__ import annotations

import http.client
from contextlib import closing

import pytest

from config.asgi import application
from tests.api.live import Address, serve


def status_of(address: Address, path: str, *, host: str) -> int:
    with closing(http.client.HTTPConnection(*address, timeout=30)) as connection:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status


@pytest.mark.parametrize("path", ["/healthz", "/livez"])
def test_a_probe_by_address_is_answered(path: str, database: None) -> None:
    with serve(application) as address:
        assert status_of(address, path, host="10.42.0.17:8000") == 200
        assert status_of(address, "/account/login/", host="10.42.0.17:8000") == 400


def test_liveness_needs_no_database() -> None:
    """Without the fixture `database`, a query fails the test."""
    with serve(application) as address:
        assert status_of(address, "/livez", host="localhost") == 200
