"""Filled databases, their backups, and empty places to restore them into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pyrage.x25519 import Identity

from config.backup import archive
from config.backup.dump import connect, dump
from config.backup.keys import create_key_file
from config.backup.manifest import Secrets
from config.runner.postgres import Postgres
from tenancy.roles import create_database_statement, database_statements
from tests.conftest import Tenant, empty_database, make_tenant
from tests.runner.conftest import open_tmp as open_tmp
from tests.services import services
from tests.tenancy.rows import fill_every_table
from tools.models import Effect

ROOT = Path(__file__).resolve().parents[2]
URLS = ("DATABASE_URL", "MIGRATE_DATABASE_URL", "OPS_DATABASE_URL")
# What a text format has to escape.
HOSTILE = "tab\t line\n return\r back\\slash \\. \\N quote' \u202e \U0001f642 '{}' null"


@dataclass(frozen=True)
class Place:
    """An empty database and the settings that name it."""

    env: dict[str, str]
    admin_url: str


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """bin/backup or bin/restore, without the installation."""
    settings = {name: value for name, value in {**os.environ, **env}.items() if value}
    command = [sys.executable, "-m", "config.backup", *arguments]
    return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False, timeout=240)


def on_data_dir(path: Path, **env: str) -> dict[str, str]:
    """Settings of an installation with the embedded servers."""
    return {
        **dict.fromkeys((*URLS, "SECRET_KEY", "MAKEGOOD_ENCRYPTION_KEYS", "REDIS_URL"), ""),
        "MAKEGOOD_DATA": str(path),
        **env,
    }


def admin_url(database: str) -> str:
    postgres = services.postgres.service
    assert isinstance(postgres, Postgres)
    return postgres.admin_url(database=database)


@contextmanager
def empty_place(name: str) -> Iterator[Place]:
    """A database of the tests' server, as `manage.py roles` creates it."""
    with psycopg.connect(admin_url("postgres"), autocommit=True) as admin:
        admin.execute(create_database_statement(name).encode())
        try:
            with psycopg.connect(admin_url(name), autocommit=True) as inside:
                for statement in database_statements(name):
                    inside.execute(statement.encode())
            urls = {url: os.environ[url].replace("/makegood", f"/{name}", 1) for url in URLS}
            yield Place({**urls, "MAKEGOOD_DATA": "/nonexistent"}, admin_url(name))
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def contents(url: str) -> dict[str, tuple[Any, ...] | None]:
    """The number of rows and a digest of all rows, of every table."""
    with psycopg.connect(url, autocommit=True) as admin:
        tables = [row[0] for row in admin.execute("select tablename::text from pg_tables where schemaname = 'public'")]
        digest = "select count(*), md5(string_agg(md5(t::text), '' order by md5(t::text))) from {} t"
        return {
            table: admin.execute(sql.SQL(digest).format(sql.Identifier(table))).fetchone() for table in sorted(tables)
        }


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's account can enter. Each run of pytest closes the temporary folders of the others."""
    folder = Path(tempfile.mkdtemp(prefix="makegood-backup-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def secrets() -> Secrets:
    """The keys of the tests' installation."""
    return Secrets(os.environ["SECRET_KEY"], os.environ["MAKEGOOD_ENCRYPTION_KEYS"])


@pytest.fixture(scope="module")
def tenant_rows(_schema: None) -> Iterator[Tenant]:
    """Two tenants with a row in every table, whose texts are hard to write down."""
    ours, theirs = make_tenant("Nello"), make_tenant("Stranger")
    fill_every_table(ours, HOSTILE)
    fill_every_table(theirs, "theirs")
    with theirs.tx():
        Effect.objects.update(delivery="once")
    yield ours
    empty_database()


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("keys") / "backup.key"
    create_key_file(file)
    return file


@pytest.fixture(scope="module")
def identity() -> Identity:
    return Identity.generate()


@pytest.fixture(scope="module")
def backup(tenant_rows: Tenant, identity: Identity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the tests' database."""
    file = tmp_path_factory.mktemp("backups") / "makegood.backup"
    with connect(os.environ["OPS_DATABASE_URL"]) as connection:
        frames = dump(connection, version="0.1.0", secrets=secrets())
        archive.write(file, frames, lock=archive.Lock((identity.to_public(),)))
    return file
