"""Reports on a real standby, whose lag is measured by positions in the write-ahead log."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from config.runner.embedded import EmbeddedServer, EmbeddedServices
from console.csv_export import Download
from console.effects.export import EFFECTS
from projects.models import Project
from tenancy import replica
from tenancy.postgresql.outage import outage
from tenancy.postgresql.prepared import Prepared
from tests.conftest import PASSWORD, Tenant
from tests.processes import free_port, until


@pytest.fixture
def standby(servers: EmbeddedServices) -> Iterator[EmbeddedServer]:
    """A running standby of the tests' PostgreSQL."""
    primary, port = servers.postgres.service, free_port()
    cluster = servers.data_dir / f"standby-{port}"
    command = [str(primary.binaries / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
    command += ["-D", str(cluster), "-R", "-c", "fast", "--no-sync"]
    place = servers.data_dir if primary.account is None else primary.cluster.parent
    as_server = primary.account.popen_options() if primary.account else {}
    if primary.account:
        cluster.mkdir(mode=0o700)
        primary.account.own(cluster)
    env = {**os.environ, "PGPASSWORD": primary.password}
    subprocess.run(command, check=True, cwd="/", env=env, capture_output=True, **as_server)
    server = EmbeddedServer(replace(primary, cluster=cluster, port=port), log=place / f"standby-{port}.log")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def alias(database: None, standby: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The standby as the database for reports, measured at each use."""
    config: dict[str, Any] = deepcopy(django_settings.DATABASES["default"])
    config |= {"HOST": "127.0.0.1", "PORT": str(standby.service.port)}
    config["OPTIONS"] |= {"target_session_attrs": "prefer-standby"}
    config["OPTIONS"].pop("host", None)
    config["OPTIONS"].pop("port", None)
    monkeypatch.setitem(django_settings.DATABASES, replica.REPLICA, config)
    monkeypatch.setattr(replica, "lag", replica.Lag())
    monkeypatch.setattr(replica, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(replica, "RETRY_SECONDS", 0.0)
    yield
    connections[replica.REPLICA].close()
    connections[replica.REPLICA].close_pool()  # type: ignore[attr-defined]
    delattr(connections._connections, replica.REPLICA)  # type: ignore[attr-defined]


def is_standby() -> bool:
    with replica.reports_connection().cursor() as cursor:
        cursor.execute("select pg_is_in_recovery()")
        return bool(cursor.fetchone()[0])


def on_standby(tenant: Tenant) -> bool:
    with replica.report_tx(tenant.organization.pk):
        return is_standby()


def administer(server: EmbeddedServer, sql: str) -> None:
    with psycopg.connect(server.service.admin_url(database="makegood"), autocommit=True) as connection:
        connection.execute(sql)


def test_reports_are_read_from_the_standby(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    with replica.report_tx(tenant.organization.pk):
        assert is_standby()
        found = Project.objects.get()
        assert Prepared("select pg_is_in_recovery()")() == [(True,)]
    assert (found, found._state.db) == (tenant.project, replica.REPLICA)


def test_other_transactions_stay_on_the_primary(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    with tenant.tx():
        assert not is_standby()
        assert Project.objects.get()._state.db == "default"


def test_the_standby_shows_one_tenant(tenant: Tenant, stranger: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    with replica.report_tx(tenant.organization.pk), replica.reports_connection().cursor() as cursor:
        cursor.execute("select organization_id from projects_project")
        assert {row[0] for row in cursor.fetchall()} == {tenant.organization.pk}


def test_a_standby_that_is_too_far_behind_is_not_read(
    tenant: Tenant, standby: EmbeddedServer, alias: None, settings: Settings
) -> None:
    settings.REPLICA_LAG_SECONDS = 0.3
    until(lambda: on_standby(tenant), what="a fresh standby")
    administer(standby, "select pg_wal_replay_pause()")
    with tenant.tx():
        Project.objects.update(name="Renamed")
    until(lambda: (replica.replica_lag_seconds() or 0) > 0.3, what="a lag")
    assert not on_standby(tenant)
    administer(standby, "select pg_wal_replay_resume()")
    until(lambda: on_standby(tenant), what="the standby's return")


def test_without_the_standby_reports_are_read_from_the_primary(
    tenant: Tenant, standby: EmbeddedServer, alias: None, caplog: pytest.LogCaptureFixture
) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    standby.kill()
    with caplog.at_level(logging.WARNING, logger="tenancy.replica"):
        assert not on_standby(tenant)
        assert not on_standby(tenant)
    assert caplog.text.count("The replica does not answer") == 1
    assert not outage.is_on


def test_the_analytics_page_reads_from_the_standby(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    client = Client()
    client.login(email=tenant.owner.email, password=PASSWORD)
    with CaptureQueriesContext(connections[replica.REPLICA]) as read:
        assert client.get(f"/p/{tenant.project.slug}/analytics").status_code == 200
    assert any("conversations_conversation" in query["sql"] for query in read.captured_queries)


def test_the_health_check_tells_the_lag(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    assert 0 <= Client().get("/healthz").json()["replica_lag_seconds"] < 60


def test_the_metrics_tell_the_lag(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    [metric] = replica.replica_metrics()
    [sample] = metric.samples
    assert (sample.name, 0 <= sample.value < 60) == (replica.LAG, True)


def test_a_csv_download_goes_on_from_the_standby(tenant: Tenant, alias: None) -> None:
    until(lambda: on_standby(tenant), what="a fresh standby")
    download = Download(EFFECTS, tenant.owner, tenant.project.slug, QueryDict())
    with CaptureQueriesContext(connections[replica.REPLICA]) as read:
        download.go_on(None)
    assert any("tools_effect" in query["sql"] for query in read.captured_queries)
