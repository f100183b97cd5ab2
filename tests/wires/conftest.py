"""The product on a host of its own, each server on another, and a router between them that drops packets."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connections

from config.runner.keys import load_keys
from config.runner.redis import prepare_redis
from tests.leases import end_leases
from tests.processes import Child, ForkServer, ScriptedModel, offline_model
from tests.services import services
from tests.wires.hosts import Host, Network, NoNetworks
from tests.wires.servers import RemotePostgres, RemoteServer, on_host

HOSTS = ("product", "postgres", "redis", "model")
MOST_SECONDS = 60


@dataclass
class RemoteModel(ScriptedModel):
    """The offline model on a host of its own."""

    host: Host | None = None

    def log(self) -> dict[str, Any]:
        assert self.host
        with self.host.entered():
            return super().log()

    def _post(self, path: str, body: dict[str, Any]) -> None:
        assert self.host
        with self.host.entered():
            super()._post(path, body)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any
    seconds: float


class Product:
    """Workers and web processes on the host `product`."""

    def __init__(self, fork_server: ForkServer, host: Host) -> None:
        self.processes = fork_server
        self.host = host

    def worker(self, **arguments: Any) -> Child:
        return self.processes.worker(**arguments)

    def web(self) -> tuple[Child, str]:
        with self.host.entered():
            return self.processes.web()

    def call(self, url: str, *, method: str = "GET", headers: dict[str, str] | None = None, body: Any = None) -> Answer:
        """Send one request from the product's host, and wait for its answer."""
        content = None if body is None else json.dumps(body).encode()
        headers = {**(headers or {}), **({"Content-Type": "application/json"} if content else {})}
        request = urllib.request.Request(url, data=content, headers=headers, method=method)
        began = time.monotonic()
        with self.host.entered(), _answered(request) as answer:
            found = json.load(answer)
            return Answer(answer.status, dict(answer.headers), found, time.monotonic() - began)


def _answered(request: urllib.request.Request) -> Any:
    """The response, whatever its status."""
    try:
        return urllib.request.urlopen(request, timeout=MOST_SECONDS)
    except urllib.error.HTTPError as refusal:
        return refusal


@pytest.fixture(scope="package")
def _network() -> Iterator[Network]:
    try:
        made = Network(*HOSTS)
    except NoNetworks as reason:
        pytest.skip(f"{reason} These tests need network namespaces.")
    with made:
        yield made


@pytest.fixture
def network(_network: Network) -> Iterator[Network]:
    """The hosts and their router, which passes everything on again after the test."""
    yield _network
    _network.heal()


def forget_connections() -> None:
    """Return this process's connections to a server that stops."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]


@pytest.fixture(scope="package")
def remote_postgres(_network: Network, _schema: None) -> Iterator[RemoteServer]:
    """The run's PostgreSQL, restarted on the host `postgres`. This process uses the same Unix socket as before."""
    before = services.postgres
    service = on_host(before.service, host=_network["postgres"])
    assert isinstance(service, RemotePostgres)
    service.let_hosts_in()
    forget_connections()
    before.stop()
    services.postgres = server = RemoteServer(service, log=before.log)
    try:
        server.start()
        yield server
    finally:
        forget_connections()
        server.stop()
        services.postgres = before
        before.start()


@pytest.fixture(scope="package")
def remote_redis(_network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteServer]:
    """A second Redis, on the host `redis`, for the product only. What this process publishes reaches no product."""
    data_dir = tmp_path_factory.mktemp("redis")
    keys = load_keys(services.data_dir)
    with _network["redis"].entered():
        service = prepare_redis(data_dir, keys=keys, port=6379, durable=False)
    server = RemoteServer(on_host(service, host=_network["redis"]), log=data_dir / "redis.log")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def _remote_model(_network: Network) -> Iterator[RemoteModel]:
    host = _network["model"]
    with host.entered():
        running = offline_model(host=host.address)
        made = running.__enter__()
    try:
        yield RemoteModel(url=made.url, host=host)
    finally:
        running.__exit__(None, None, None)


@pytest.fixture
def model(_remote_model: RemoteModel) -> RemoteModel:
    """The model of the product on its own host, with an empty script."""
    _remote_model.reset()
    return _remote_model


@pytest.fixture(scope="package")
def remote_env(remote_postgres: RemoteServer, remote_redis: RemoteServer, _remote_model: RemoteModel) -> dict[str, str]:
    """The settings of the product's processes."""
    keys, postgres = load_keys(services.data_dir), remote_postgres.service
    assert isinstance(postgres, RemotePostgres)
    return {
        "DATABASE_URL": postgres.remote_url(role="mg_app", password=keys.mg_app),
        "MIGRATE_DATABASE_URL": postgres.remote_url(role="mg_owner", password=keys.mg_owner),
        "OPS_DATABASE_URL": postgres.remote_url(role="mg_ops", password=keys.mg_ops),
        "REDIS_URL": remote_redis.service.url(),
        "OPENAI_BASE_URL": _remote_model.base_url,
        "MAKEGOOD_SWEEP_SECONDS": "0.25",
        "MAKEGOOD_DB_THREADS": "4",
        "MAKEGOOD_OUTBOUND_ALLOW": "127.0.0.1,10.213.0.0/16",
        "MAKEGOOD_ALLOWED_HOSTS": "*",
    }


@pytest.fixture(scope="package")
def _remote_fork_server(
    _network: Network, remote_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ForkServer]:
    with _network["product"].entered():
        server = ForkServer(tmp_path_factory.mktemp("product"), env=remote_env, end_leases=end_leases)
    yield server
    server.stop()


@pytest.fixture
def product(
    request: pytest.FixtureRequest,
    _remote_fork_server: ForkServer,
    network: Network,
    database: None,
    model: RemoteModel,
) -> Iterator[Product]:
    """Workers and web processes on their own host. They are killed after the test."""
    _remote_fork_server.lease_seconds = 2 if request.node.get_closest_marker("short_leases") else None
    yield Product(_remote_fork_server, network["product"])
    _remote_fork_server.kill_children()
