"""PostgreSQL and Redis of one data directory, for tests and benchmarks: start, crash, restart, stop."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from config.runner.data_dir import hold_data_dir
from config.runner.databases import create_databases
from config.runner.errors import StartError
from config.runner.keys import Keys, load_keys
from config.runner.ports import PortStore
from config.runner.postgres import Postgres, prepare_postgres
from config.runner.redis import Redis, prepare_redis

# The kernel sends the orphan signal when the *thread* that started a server ends. This thread starts all of them and
# lives as long as the process.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-services")
START_SECONDS = 600.0


class EmbeddedServer:
    """A PostgreSQL or Redis server. Its output goes to a log file in the data directory."""

    def __init__(self, service: Postgres | Redis, *, log: Path) -> None:
        self.service = service
        self.log = log
        self._program = service.program()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of the server process (for PostgreSQL, the postmaster)."""
        if self._process is None:
            raise StartError(f"{self._program.name} was never started.")
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True while the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server and wait until it responds, including crash recovery.

        Raises StartError with its last line of output.
        """
        give_up_at = time.monotonic() + START_SECONDS
        refused = 0
        while not (self.is_alive and self.service.is_ready()):
            if not self.is_alive:
                # After a crash, PostgreSQL refuses to start until the last of its old processes has ended.
                refused += 1
                self._spawn()
            if time.monotonic() > give_up_at or refused > 50:
                raise StartError(f"{self._program.name} doesn't start: {self._last_line()}")
            time.sleep(0.02 if refused < 2 else 0.2)

    def kill(self) -> None:
        """Crash the server with SIGKILL."""
        self._signal(signal.SIGKILL)
        self._wait(seconds=30)

    def restart(self) -> None:
        """Crash the server if it runs, and start it again with the same port and data."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """Shut the server down, or kill it if that takes too long."""
        self._signal(self._program.stop_signal)
        if not self._wait(seconds=self._program.stop_seconds):
            self.kill()

    def _spawn(self) -> None:
        self._process = _starter.submit(self._popen).result()

    def _popen(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            return subprocess.Popen(self._program.argv(), stdout=output, **self._program.popen_options())

    def _signal(self, number: signal.Signals) -> None:
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _wait(self, *, seconds: float) -> bool:
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _last_line(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output."


class EmbeddedServices:
    """A context manager that runs both servers. `env` contains the settings to reach them.

    Without `data_dir`, the data is in a temporary directory that is removed at the end. `durable=False` turns off
    fsync: a crash of a *server* loses nothing, but a crash of the machine may.
    """

    postgres: EmbeddedServer
    redis: EmbeddedServer
    env: dict[str, str]
    data_dir: Path

    def __init__(self, data_dir: Path | None = None, *, durable: bool = False) -> None:
        self._asked_dir = data_dir
        self._durable = durable
        self._exit = contextlib.ExitStack()

    def start(self) -> Self:
        """Start both servers. Raises StartError, in which case neither keeps running."""
        with contextlib.ExitStack() as undo:
            asked = self._asked_dir or Path(tempfile.mkdtemp(prefix="makegood-"))
            if self._asked_dir is None:
                asked.chmod(0o711)
                undo.callback(_erase, asked)
            self.data_dir = undo.enter_context(hold_data_dir(asked))
            self._start_servers(undo)
            self._exit = undo.pop_all()
        return self

    def stop(self) -> None:
        """Stop both servers and remove a temporary directory. Idempotent."""
        self._exit.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _start_servers(self, undo: contextlib.ExitStack) -> None:
        keys, ports = load_keys(self.data_dir), PortStore(self.data_dir)
        redis = prepare_redis(self.data_dir, keys=keys, port=ports.assign("redis"), durable=self._durable)
        postgres = prepare_postgres(self.data_dir, keys=keys, port=ports.assign("postgres"), durable=self._durable)
        self.postgres = EmbeddedServer(postgres, log=self.data_dir / "postgres.log")
        self.redis = EmbeddedServer(redis, log=self.data_dir / "redis.log")
        for server in (self.redis, self.postgres):
            undo.callback(server.stop)
            server.start()
        create_databases(postgres, keys=keys)
        self.env = {
            **postgres_env(postgres, keys=keys),
            **key_env(keys),
            "REDIS_URL": redis.url(),
            "MAKEGOOD_DATA": str(self.data_dir),
        }


def postgres_env(postgres: Postgres, *, keys: Keys) -> dict[str, str]:
    """The database URLs for the settings."""
    return {
        "DATABASE_URL": postgres.url(role="mg_app", password=keys.mg_app),
        "MIGRATE_DATABASE_URL": postgres.url(role="mg_owner", password=keys.mg_owner),
        "OPS_DATABASE_URL": postgres.url(role="mg_ops", password=keys.mg_ops),
    }


def key_env(keys: Keys) -> dict[str, str]:
    """The secrets for the settings."""
    return {"SECRET_KEY": keys.secret_key, "MAKEGOOD_ENCRYPTION_KEYS": keys.encryption_keys}


def erase_data(data_dir: Path, *, keep: Container[str] = ()) -> None:
    """Remove what is in a data directory, and the cluster that may be outside it."""
    cluster = data_dir / "postgres"
    if cluster.is_symlink():
        shutil.rmtree(cluster.resolve(), ignore_errors=True)
    for entry in data_dir.iterdir():
        if entry.name in keep:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def _erase(data_dir: Path) -> None:
    """Remove a temporary data directory."""
    with contextlib.suppress(OSError):
        erase_data(data_dir)
    shutil.rmtree(data_dir, ignore_errors=True)
