"""PostgreSQL fails over to a standby at another address."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant, empty_database
from tests.crashes.invariants import check, settle
from tests.crashes.test_crash_points import begin, say
from tests.leases import end_leases
from tests.processes import ForkServer, until
from tests.services import services
from tests.wires.conftest import Product, RemoteModel, forget_connections, postgres_urls
from tests.wires.faults import CUT
from tests.wires.hosts import Network
from tests.wires.servers import RemotePostgres, RemoteServer
from tests.wires.test_postgres import (
    ANSWERED_SECONDS,
    PROMISING,
    RECOVERED_SECONDS,
    at_once,
    post,
    promises_are_kept_once,
)

pytestmark = [pytest.mark.slow, pytest.mark.short_leases]

IN_SYNC = "select exists (select from pg_stat_replication where sync_state = 'sync')"


class Pair:
    """A primary and its synchronous standby."""

    def __init__(self, primary: RemoteServer, standby: RemoteServer) -> None:
        self.primary, self.standby = primary, standby

    def replicate(self) -> None:
        """Let commits wait for the standby from now on."""
        bypass_rls("alter system set synchronous_standby_names = '*'")
        bypass_rls("select pg_reload_conf()")
        until(lambda: bypass_rls(IN_SYNC)[0][0], what="the standby in sync")

    def fail_over(self) -> None:
        """End the primary, promote the standby, and let this process find it at the primary's Unix socket."""
        forget_connections()
        self.primary.kill()
        with _admin(self.standby) as connection:
            connection.execute("alter system reset synchronous_standby_names")
            connection.execute("select pg_promote()")
            connection.execute("select pg_reload_conf()")
        socket = _socket(self.primary)
        socket.unlink(missing_ok=True)
        socket.symlink_to(_socket(self.standby))

    def fail_back(self) -> None:
        """Restart the primary as it was, without what was written since."""
        forget_connections()
        self.standby.stop()
        _socket(self.primary).unlink(missing_ok=True)
        settings = _cluster(self.primary) / "postgresql.auto.conf"
        settings.write_text(re.sub("synchronous_standby_names.*", "", settings.read_text()))
        self.primary.restart()
        empty_database()


def _cluster(server: RemoteServer) -> Path:
    assert isinstance(server.service, RemotePostgres)
    return server.service.cluster


def _socket(server: RemoteServer) -> Path:
    assert isinstance(server.service, RemotePostgres)
    return server.service.cluster / f".s.PGSQL.{server.service.port}"


def _admin(server: RemoteServer) -> psycopg.Connection[tuple[object, ...]]:
    assert isinstance(server.service, RemotePostgres)
    return psycopg.connect(server.service.admin_url(database="postgres"), autocommit=True)


@pytest.fixture
def pair(network: Network, remote_postgres: RemoteServer) -> Iterator[Pair]:
    """The run's PostgreSQL, and a standby that is a copy of it."""
    service = remote_postgres.service
    assert isinstance(service, RemotePostgres)
    cluster = services.data_dir / "standby"
    backup = ["-h", str(service.cluster), "-p", str(service.port), "-U", "postgres", "-D", str(cluster)]
    cluster.mkdir(mode=0o700)
    if service.account:
        service.account.own(cluster)
    subprocess.run(
        [str(service.binaries / "pg_basebackup"), *backup, "--write-recovery-conf", "--checkpoint=fast"],
        check=True,
        cwd="/",
        env={**os.environ, "PGPASSWORD": service.password},
        **(service.account.popen_options() if service.account else {}),
    )
    standby = RemoteServer(
        replace(service, cluster=cluster, host=network["standby"]), log=services.data_dir / "standby.log"
    )
    # The backup includes the lock of the primary's socket.
    _socket(standby).with_name(f"{_socket(standby).name}.lock").unlink()
    standby.start()
    pair = Pair(remote_postgres, standby)
    pair.replicate()
    yield pair
    pair.fail_back()
    shutil.rmtree(cluster)


@pytest.fixture
def product(
    pair: Pair,
    network: Network,
    remote_env: dict[str, str],
    database: None,
    model: RemoteModel,
    tmp_path: Path,
) -> Iterator[Product]:
    """Processes that know both servers."""
    both = ",".join(network[name].address for name in ("postgres", "standby"))
    env = {**remote_env, **postgres_urls(pair.primary, address=both)}
    with network["product"].entered():
        fork_server = ForkServer(tmp_path, env=env, end_leases=end_leases)
    fork_server.lease_seconds = 2
    yield Product(fork_server, network["product"])
    fork_server.stop()


def test_work_goes_on_after_a_failover(
    pair: Pair, product: Product, tenant: Tenant, network: Network, model: RemoteModel
) -> None:
    product.worker()
    _, url = product.web()
    talks = [begin(tenant) for _ in range(3)]
    posts = [post(product, tenant, url=url, conversation=talk, number=n) for n, talk in enumerate(talks)]
    model.latency(ttft_ms=500)
    for talk in talks:
        say(tenant, talk, PROMISING)
    until(lambda: model.requests("reply"), what="a reply in the making")
    CUT.begin(network, "postgres")
    for answer in at_once(posts):
        assert answer.status == 503
        assert answer.seconds < ANSWERED_SECONDS
    pair.fail_over()
    for again in posts:
        until(lambda again=again: again().status == 202, seconds=RECOVERED_SECONDS, what="the message's acceptance")
    settle(tenant, seconds=RECOVERED_SECONDS)
    check(tenant)
    for talk in talks:
        promises_are_kept_once(tenant, talk)
