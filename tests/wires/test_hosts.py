"""The hosts and their router: what the other tests of this folder build on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conversations.conftest import begin
from tests.crashes.invariants import check, settle
from tests.wires.conftest import Product
from tests.wires.hosts import Network, NoNetworks


@contextmanager
def wire(network: Network) -> Iterator[tuple[socket.socket, socket.socket]]:
    """An open connection from `product` to `postgres`: both ends."""
    with network["postgres"].entered():
        listener = socket.create_server((network["postgres"].address, 0))
    with network["product"].entered():
        near = socket.create_connection(listener.getsockname(), timeout=5)
    far, _ = listener.accept()
    with listener, near, far:
        near.settimeout(0.3)
        far.settimeout(0.3)
        yield near, far


def test_a_black_hole_loses_one_direction_and_closes_nothing(network: Network) -> None:
    with wire(network) as (near, far):
        network.black_hole("product", "postgres")
        near.sendall(b"question")
        with pytest.raises(TimeoutError):
            far.recv(20)
        far.sendall(b"news")
        assert near.recv(20) == b"news"
        network.heal()
        far.settimeout(10)
        assert far.recv(20) == b"question"


def test_a_cut_loses_both_directions_of_these_hosts_only(network: Network) -> None:
    with wire(network) as (near, far):
        network.cut("product", "postgres")
        far.sendall(b"news")
        with pytest.raises(TimeoutError):
            near.recv(20)
        with network["model"].entered(), socket.create_server((network["model"].address, 0)) as other:
            address = other.getsockname()
            with network["product"].entered(), socket.create_connection(address, timeout=5):
                pass
        network.heal()


def test_the_product_serves_and_works_on_hosts_of_its_own(product: Product, tenant) -> None:
    product.worker()
    _, url = product.web()
    answer = product.call(f"{url}/healthz")
    assert (answer.status, answer.body["redis"]) == (200, True)
    begin(tenant).say("Could you text me the opening hours?")
    settle(tenant)
    check(tenant)


def test_an_account_that_may_not_create_namespaces_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NoNetworks, match="root"):
        Network("product")
