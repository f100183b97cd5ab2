"""The database that is backed up: the operator's own, or that of a data directory, whether it runs or not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.backup.errors import BackupError
from config.backup.manifest import Secrets
from config.runner.data_dir import RESTORING, DataDirInUse, hold_data_dir
from config.runner.embedded import EmbeddedServer, key_env, postgres_env
from config.runner.keys import Keys, load_keys
from config.runner.ports import PortStore
from config.runner.postgres import Postgres, prepare_postgres, running_postgres

START_SECONDS = 60.0


@dataclass(frozen=True)
class Source:
    """The URL of the role that sees every tenant, and the keys of the installation."""

    url: str
    secrets: Secrets


@contextmanager
def open_source(env: Mapping[str, str], *, data_dir: Path) -> Iterator[Source]:
    """The operator's database if DATABASE_URL is set, or else that of the data directory.

    Starts its server if it doesn't run, and stops it afterwards. Raises BackupError or StartError.
    """
    if env.get("DATABASE_URL"):
        yield Source(env["OPS_DATABASE_URL"], Secrets(env["SECRET_KEY"], env["MAKEGOOD_ENCRYPTION_KEYS"]))
        return
    if not (data_dir / "secrets.json").exists() or (data_dir / RESTORING).exists():
        raise BackupError(f"There is nothing to back up in {data_dir}: set MAKEGOOD_DATA, or DATABASE_URL.")
    keys = load_keys(data_dir)
    with _running(data_dir, keys=keys) as postgres:
        known = {**key_env(keys), **{name: value for name, value in env.items() if value}}
        secrets = Secrets(known["SECRET_KEY"], known["MAKEGOOD_ENCRYPTION_KEYS"])
        yield Source(postgres_env(postgres, keys=keys)["OPS_DATABASE_URL"], secrets)


@contextmanager
def _running(data_dir: Path, *, keys: Keys) -> Iterator[Postgres]:
    """The server of a data directory: the one of a running copy, or one of our own."""
    with ExitStack() as end:
        try:
            end.enter_context(hold_data_dir(data_dir))
        except DataDirInUse:
            yield _wait_for_copy(data_dir, keys=keys)
            return
        postgres = prepare_postgres(data_dir, keys=keys, port=PortStore(data_dir).assign("postgres"))
        server = EmbeddedServer(postgres, log=data_dir / "postgres.log")
        end.callback(server.stop)
        server.start()
        yield postgres


def _wait_for_copy(data_dir: Path, *, keys: Keys) -> Postgres:
    """The server of the copy that holds the lock, once it accepts connections."""
    give_up_at = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up_at:
        postgres = running_postgres(data_dir, keys=keys, port=PortStore(data_dir).stored("postgres"))
        if postgres.port and postgres.is_ready():
            return postgres
        time.sleep(0.2)
    raise BackupError(f"Another copy of Makegood uses {data_dir}, and its PostgreSQL doesn't answer.")
