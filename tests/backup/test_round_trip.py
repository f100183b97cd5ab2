"""A restored backup holds every row of every table, the same schema and the same keys."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres
from tests.backup.conftest import ROOT, Place, admin_url, contents, empty_place, on_data_dir, open_folder, run
from tests.conftest import Tenant
from tests.processes import until
from tests.services import services

pytestmark = pytest.mark.whole

SCHEMA = {
    "constraints": "select conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) from pg_constraint"
    " where connamespace = 'public'::regnamespace order by 1, 2",
    "indexes": "select indexdef from pg_indexes where schemaname = 'public' order by 1",
    "policies": "select tablename::text, policyname::text, qual, with_check from pg_policies order by 1, 2",
    "row security": "select relname::text, relrowsecurity, relforcerowsecurity from pg_class"
    " where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    "columns": "select table_name::text, column_name::text, data_type::text, is_nullable::text, column_default"
    " from information_schema.columns where table_schema = 'public' order by 1, 2",
    "rights": "select table_name::text, grantee::text, privilege_type::text from information_schema.role_table_grants"
    " where table_schema = 'public' order by 1, 2, 3",
    "sequences": "select sequencename::text, last_value from pg_sequences where schemaname = 'public' order by 1",
}


@pytest.fixture(scope="module")
def restored(tenant_rows: Tenant, key_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The tests' database, restored into an empty one by the two commands."""
    file = str(tmp_path_factory.mktemp("backups") / "makegood.backup")
    key = {"MAKEGOOD_BACKUP_KEY_FILE": str(key_file)}
    made = run("backup", file, **key)
    assert made.returncode == 0, made.stderr
    with empty_place("restored") as place:
        done = run("restore", file, "--resume", **key, **place.env)
        assert done.returncode == 0, done.stderr
        yield place


def test_every_table_is_the_same(restored: Place) -> None:
    before = contents(admin_url(DATABASE))
    assert contents(restored.admin_url) == before
    assert before["conversations_message"][0] >= 2


@pytest.mark.parametrize("part", SCHEMA)
def test_the_schema_is_the_same(restored: Place, part: str) -> None:
    found = []
    for url in (admin_url(DATABASE), restored.admin_url):
        with psycopg.connect(url) as connection:
            found.append(connection.execute(SCHEMA[part].encode()).fetchall())
    assert plain(found[0]) == plain(found[1])


def plain(rows: list[tuple[Any, ...]]) -> list[str]:
    """The rows without casts and brackets, which PostgreSQL words anew for an index that is created from its definition."""
    return [re.sub(r"::(text|character varying)|\[\]|[()]", "", str(row)) for row in rows]


def test_a_tenant_sees_only_its_own_rows(restored: Place, tenant_rows: Tenant) -> None:
    with psycopg.connect(restored.env["DATABASE_URL"]) as connection:
        connection.execute("select set_config('app.organization_id', %s, true)", [str(tenant_rows.organization.pk)])
        assert connection.execute("select id from projects_organization").fetchall() == [(tenant_rows.organization.pk,)]


# A data directory


@pytest.fixture(scope="module")
def restored_dir(tenant_rows: Tenant) -> Iterator[Path]:
    """The data directory of this run, backed up while it runs, and restored into a new one."""
    with open_folder() as folder:
        made = run("backup", str(folder / "makegood.backup"), **on_data_dir(services.data_dir))
        assert made.returncode == 0, made.stderr
        done = run("restore", str(folder / "makegood.backup"), "--resume", **on_data_dir(folder / "data"))
        assert done.returncode == 0, done.stderr
        yield folder / "data"


def test_a_data_directory_is_the_same(restored_dir: Path) -> None:
    with EmbeddedServices(restored_dir) as copy:
        postgres = copy.postgres.service
        assert isinstance(postgres, Postgres)
        assert contents(postgres.admin_url(database=DATABASE)) == contents(admin_url(DATABASE))


def test_a_data_directory_keeps_its_keys_and_gets_new_passwords(restored_dir: Path) -> None:
    before, after = (json.loads((each / "secrets.json").read_text()) for each in (services.data_dir, restored_dir))
    assert {name for name, value in before.items() if after[name] == value} == {"secret_key", "encryption_keys"}


def test_a_stopped_copy_is_backed_up(restored_dir: Path, key_file: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "again.backup")
    key = {"MAKEGOOD_BACKUP_KEY_FILE": str(key_file)}
    made = run("backup", file, **key, **on_data_dir(restored_dir))
    assert made.returncode == 0, made.stderr
    rows = sum(found[0] for found in contents(admin_url(DATABASE)).values() if found)
    assert f"{rows:,} rows" in run("restore", file, "--check", **key, **on_data_dir(tmp_path / "none")).stdout


def test_a_restored_data_directory_serves_with_the_same_api_keys(restored_dir: Path, tenant_rows: Tenant) -> None:
    settings = {name: value for name, value in {**os.environ, **on_data_dir(restored_dir)}.items() if value}
    command = [sys.executable, "-m", "config.runner", "serve", "--port", "0"]
    served = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.DEVNULL)
    try:
        demo = until((restored_dir / "demo.json").exists, seconds=240) and json.loads(
            (restored_dir / "demo.json").read_text()
        )
        connection = http.client.HTTPConnection(urlsplit(demo["base_url"]).netloc, timeout=30)
        connection.request("GET", "/api/v1/attributes", headers=tenant_rows.headers)
        assert connection.getresponse().status == 200
        connection.close()
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait(60)
