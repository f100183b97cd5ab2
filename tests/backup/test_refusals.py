"""A restore is refused before anything is touched, and leaves nothing behind when it fails later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader
from pyrage.x25519 import Identity

from config.backup import archive
from config.backup.errors import BackupError
from config.backup.frames import Frame, Kind
from config.backup.keys import Lock
from config.backup.load import check
from config.backup.manifest import Manifest
from config.backup.schema import known
from config.backup.target import MARK, open_target, require_keys
from config.runner.data_dir import RESTORING, require_complete
from config.runner.errors import StartError
from tests.backup.conftest import ROOT, Place, contents, empty_place, on_data_dir, run
from tests.conftest import Tenant
from tests.processes import until
from tests.services import services

pytestmark = pytest.mark.whole


@pytest.fixture
def key(identity: Identity, tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "opening.key"
    file.write_text(f"{identity}\n")
    return {"MAKEGOOD_BACKUP_KEY_FILE": str(file)}


@pytest.fixture
def place() -> Iterator[Place]:
    with empty_place("refused") as made:
        yield made


def manifest_of(backup: Path, identity: Identity) -> Manifest:
    with archive.reading(backup, identity=identity) as frames:
        return check(frames)[0]


def changed(backup: Path, identity: Identity, *, file: Path, manifest: Manifest) -> Path:
    """The backup with another manifest."""
    with archive.reading(backup, identity=identity) as frames:
        rest = [frame for frame in frames if frame.kind is not Kind.MANIFEST]
    archive.write(file, [Frame(Kind.MANIFEST, manifest.to_json()), *rest], lock=Lock((identity.to_public(),)))
    return file


def test_a_cut_file_creates_nothing(backup: Path, key: dict[str, str], tmp_path: Path) -> None:
    cut = tmp_path / "cut.backup"
    cut.write_bytes(backup.read_bytes()[:-100])
    refused = run("restore", str(cut), **key, **on_data_dir(tmp_path / "data"))
    assert (refused.returncode, "damaged or was cut off" in refused.stderr) == (1, True)
    assert not (tmp_path / "data").exists()


def test_a_newer_schema_creates_nothing(backup: Path, identity: Identity, key: dict[str, str], tmp_path: Path) -> None:
    manifest = manifest_of(backup, identity)
    newer = replace(manifest, version="9.0.0", migrations=(*manifest.migrations, ("jobs", "0999_from_the_future")))
    file = changed(backup, identity, file=tmp_path / "newer.backup", manifest=newer)
    refused = run("restore", str(file), **key, **on_data_dir(tmp_path / "data"))
    assert "made by a newer version of Makegood (9.0.0; jobs.0999_from_the_future is not a migration" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_the_known_migrations_are_those_that_django_finds() -> None:
    assert known() == sorted(MigrationLoader(None).disk_migrations)


def test_a_running_copy_is_not_overwritten(backup: Path, identity: Identity) -> None:
    before = sorted(services.data_dir.iterdir())
    manifest = manifest_of(backup, identity)
    refused = pytest.raises(BackupError, match="isn't empty: set MAKEGOOD_DATA to a new directory")
    with refused, open_target({}, data_dir=services.data_dir, manifest=manifest):
        pass
    assert sorted(services.data_dir.iterdir()) == before


def test_a_directory_with_other_files_is_not_overwritten(backup: Path, identity: Identity, tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with (
        pytest.raises(BackupError, match="isn't empty"),
        open_target({}, data_dir=tmp_path, manifest=manifest_of(backup, identity)),
    ):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_database_with_tables_is_not_overwritten(backup: Path, identity: Identity, place: Place) -> None:
    with psycopg.connect(place.env["MIGRATE_DATABASE_URL"]) as owner:
        owner.execute("create table invoices (id int)")
    refused, env = pytest.raises(BackupError, match=r"isn't empty \(it has invoices\)"), {**os.environ, **place.env}
    with refused, open_target(env, data_dir=Path("none"), manifest=manifest_of(backup, identity)):
        pass
    assert list(contents(place.admin_url)) == ["invoices"]


@pytest.mark.parametrize("name", ["SECRET_KEY", "MAKEGOOD_ENCRYPTION_KEYS"])
def test_other_keys_are_rejected(backup: Path, identity: Identity, name: str) -> None:
    others = {"SECRET_KEY": "x" * 40, "MAKEGOOD_ENCRYPTION_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}
    with pytest.raises(BackupError, match=f"Set {name} to that of the backup: `bin/restore --keys FILE` prints it"):
        require_keys({**os.environ, name: others[name]}, manifest_of(backup, identity))


def test_a_newer_encryption_key_before_the_backups_own_is_accepted(backup: Path, identity: Identity) -> None:
    both = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=," + os.environ["MAKEGOOD_ENCRYPTION_KEYS"]
    keys = require_keys({**os.environ, "MAKEGOOD_ENCRYPTION_KEYS": both}, manifest_of(backup, identity))
    assert keys.encryption_keys == both


def test_a_backup_without_keys_asks_for_them(backup: Path, identity: Identity) -> None:
    manifest = replace(manifest_of(backup, identity), secrets=None)
    with pytest.raises(BackupError, match="made without its keys: set SECRET_KEY and MAKEGOOD_ENCRYPTION_KEYS"):
        require_keys({}, manifest)
    assert require_keys(os.environ, manifest).secret_key == os.environ["SECRET_KEY"]


def test_the_keys_are_printed_on_request_only(backup: Path, key: dict[str, str], tmp_path: Path) -> None:
    shown = run("restore", str(backup), "--keys", **key, **on_data_dir(tmp_path / "data"))
    assert f"SECRET_KEY={os.environ['SECRET_KEY']}\n" in shown.stdout
    assert not (tmp_path / "data").exists()


# Later failures


def test_a_failed_restore_leaves_an_empty_directory(backup: Path, identity: Identity, open_tmp: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        open_target({}, data_dir=open_tmp / "data", manifest=manifest_of(backup, identity)),
    ):
        raise ZeroDivisionError
    assert {file.name for file in (open_tmp / "data").iterdir()} == {"lock"}


def test_a_failed_restore_leaves_an_empty_database(backup: Path, identity: Identity, place: Place) -> None:
    env = {**os.environ, **place.env}
    with (
        pytest.raises(ZeroDivisionError),
        open_target(env, data_dir=Path("none"), manifest=manifest_of(backup, identity)),
    ):
        with psycopg.connect(place.env["MIGRATE_DATABASE_URL"]) as owner:
            owner.execute("create table half (id int)")
        raise ZeroDivisionError
    assert contents(place.admin_url) == {}


def test_two_restores_into_one_database_are_refused(backup: Path, identity: Identity, place: Place) -> None:
    env, manifest = {**os.environ, **place.env}, manifest_of(backup, identity)
    refused = pytest.raises(BackupError, match="Another restore into this database is running")
    with (
        open_target(env, data_dir=Path("none"), manifest=manifest),
        refused,
        open_target(env, data_dir=Path("none"), manifest=manifest),
    ):
        pass


def test_rows_without_their_parent_are_refused(
    backup: Path, identity: Identity, key: dict[str, str], tmp_path: Path, place: Place
) -> None:
    """Foreign keys are checked over all rows, in spite of row-level security."""
    with archive.reading(backup, identity=identity) as frames:
        whole = list(frames)
    at = next(number for number, frame in enumerate(whole) if frame.payload == b'"conversations_persona"')
    assert whole[at + 1].kind is Kind.ROWS
    orphans = [*whole[: at + 1], Frame(Kind.COUNT, b"0"), *whole[at + 3 :]]
    archive.write(tmp_path / "orphans.backup", orphans, lock=Lock((identity.to_public(),)))
    refused = run("restore", str(tmp_path / "orphans.backup"), **key, **place.env)
    assert "PostgreSQL refused the restore: insert or update on table" in refused.stderr
    assert contents(place.admin_url) == {}


@pytest.mark.parametrize("kind", ["directory", "database"])
def test_a_killed_restore_is_run_again(
    backup: Path, key: dict[str, str], open_tmp: Path, kind: str, tenant_rows: Tenant
) -> None:
    with empty_place("killed") as place:
        data_dir = open_tmp / "data"
        env = on_data_dir(data_dir, **key) if kind == "directory" else {**place.env, **key}

        def is_half_done() -> bool:
            return (data_dir / RESTORING).exists() if kind == "directory" else len(contents(place.admin_url)) > 1

        settings = {name: value for name, value in {**os.environ, **env}.items() if value}
        command = [sys.executable, "-m", "config.backup", "restore", str(backup)]
        first = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.DEVNULL)
        until(is_half_done, seconds=120)
        first.send_signal(signal.SIGKILL)
        first.wait(30)
        if kind == "directory":
            with pytest.raises(StartError, match="didn't end: run bin/restore again"):
                require_complete(data_dir)
        else:
            assert MARK in contents(place.admin_url)
        again = run("restore", str(backup), **env)
        assert again.returncode == 0, again.stderr
        assert not (data_dir / RESTORING).exists()
