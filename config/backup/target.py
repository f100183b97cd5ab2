"""The place that a backup is restored into: an empty database of the operator, or an empty data directory."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from psycopg import sql

from config.backup.catalog import Connection, read_tables
from config.backup.dump import connect
from config.backup.errors import BackupError
from config.backup.manifest import Manifest, Secrets
from config.runner.data_dir import HARMLESS, RESTORING, hold_data_dir, is_empty
from config.runner.databases import create_databases
from config.runner.embedded import EmbeddedServer, erase_data, key_env, postgres_env
from config.runner.keys import load_keys, new_keys, store_keys
from config.runner.orphans import end_orphan
from config.runner.ports import PortStore
from config.runner.postgres import prepare_postgres

# Settings that the command's processes need although they don't use them.
UNUSED = {"REDIS_URL": "redis://127.0.0.1:9/0"}
# Exists in a database while a backup is restored into it.
MARK = "makegood_restoring"
_LOCK = 0x72657374  # "rest"


@contextmanager
def open_target(env: Mapping[str, str], *, data_dir: Path, manifest: Manifest) -> Iterator[dict[str, str]]:
    """The settings of an empty target for the restore. After an error, it is empty again.

    Raises BackupError or StartError before anything is touched if the place isn't empty or the keys are others.
    """
    secrets = require_keys(env, manifest)
    with _database(env) if env.get("DATABASE_URL") else _data_dir(data_dir, secrets=secrets) as found:
        yield {**UNUSED, **env, **secrets.env(), **found, "DJANGO_SETTINGS_MODULE": "config.settings"}


def require_keys(env: Mapping[str, str], manifest: Manifest) -> Secrets:
    """The keys of the restored installation: the backup's, or those that are set, which must read the backup's secrets."""
    given = Secrets(env.get("SECRET_KEY", ""), env.get("MAKEGOOD_ENCRYPTION_KEYS", ""))
    if manifest.secrets is None:
        if not given.secret_key or not given.can_read(manifest.sample):
            raise BackupError(
                "The backup was made without its keys: set SECRET_KEY and MAKEGOOD_ENCRYPTION_KEYS to those of its time."
            )
        return given
    if given.encryption_keys and not given.can_read(manifest.sample):
        raise BackupError(_others("MAKEGOOD_ENCRYPTION_KEYS"))
    if given.secret_key and given.secret_key != manifest.secrets.secret_key:
        raise BackupError(_others("SECRET_KEY"))
    return Secrets(manifest.secrets.secret_key, given.encryption_keys or manifest.secrets.encryption_keys)


def _others(name: str) -> str:
    return f"Set {name} to that of the backup: `bin/restore --keys FILE` prints it."


@contextmanager
def _data_dir(path: Path, *, secrets: Secrets) -> Iterator[dict[str, str]]:
    if not is_empty(path) and not (path / RESTORING).exists():
        raise BackupError(f"{path} isn't empty: set MAKEGOOD_DATA to a new directory.")
    with hold_data_dir(path) as data_dir, _undone(lambda: erase_data(data_dir, keep=HARMLESS)) as end:
        _erase_unfinished(data_dir)
        mark = data_dir / RESTORING
        mark.touch()
        store_keys(data_dir, new_keys(secret_key=secrets.secret_key, encryption_keys=secrets.encryption_keys))
        keys = load_keys(data_dir)
        postgres = prepare_postgres(data_dir, keys=keys, port=PortStore(data_dir).assign("postgres"))
        server = EmbeddedServer(postgres, log=data_dir / "postgres.log")
        end.callback(server.stop)
        server.start()
        create_databases(postgres, keys=keys)
        yield {**postgres_env(postgres, keys=keys), **key_env(keys), "MAKEGOOD_DATA": str(data_dir)}
        end.close()
        mark.unlink()


def _erase_unfinished(data_dir: Path) -> None:
    """Remove what a killed restore left, and end its server first."""
    cluster = (data_dir / "postgres").resolve()
    end_orphan(pid_file=cluster / "postmaster.pid", directory=cluster, stop_signal=signal.SIGINT)
    erase_data(data_dir, keep=HARMLESS)


@contextmanager
def _database(env: Mapping[str, str]) -> Iterator[dict[str, str]]:
    with connect(env["MIGRATE_DATABASE_URL"]) as connection:
        if connection.execute("select pg_try_advisory_lock(%s)", [_LOCK]).fetchone() != (True,):
            raise BackupError("Another restore into this database is running.")
        tables = [table.name for table in read_tables(connection)]
        if tables and MARK not in tables:
            raise BackupError(f"The database isn't empty (it has {tables[0]}): create an empty one.")
        with _undone(lambda: _drop_all(connection)):
            _drop_all(connection)
            connection.execute(sql.SQL("create table public.{} ()").format(sql.Identifier(MARK)))
            yield {}
            connection.execute(sql.SQL("drop table public.{}").format(sql.Identifier(MARK)))


def _drop_all(connection: Connection) -> None:
    for table in read_tables(connection):
        connection.execute(sql.SQL("drop table {} cascade").format(table.identifier))


@contextmanager
def _undone(undo: Callable[[], None]) -> Iterator[ExitStack]:
    """After an error, call `undo`, once everything registered with the stack has ended."""
    try:
        with ExitStack() as end:
            yield end
    except BaseException:
        undo()
        raise
