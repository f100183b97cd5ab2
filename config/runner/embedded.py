"""PostgreSQL and Redis of one data directory, for tests and benchmarks: started, crashed, restarted, stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from config.runner.data_dir import hold_data_dir
from config.runner.databases import create_databases
from config.runner.errors import StartError
from config.runner.keys import Keys, load_keys
from config.runner.ports import PortBook
from config.runner.postgres import Postgres, prepare_postgres
from config.runner.redis import Redis, prepare_redis

# The kernel sends the orphan signal when the *thread* that started a server ends: one thread starts them all,
# and lives as long as this process.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-services")
START_SECONDS = 600.0


class EmbeddedServer:
    """One running PostgreSQL or Redis. Its output goes to a log file in the data directory."""

    def __init__(self, service: Postgres | Redis, *, log: Path) -> None:
        self.service = service
        self.log = log
        self._program = service.program()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the server itself (PostgreSQL: the postmaster)."""
        if self._process is None:
            raise StartError(f"{self._program.name} was never started.")
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers, through crash recovery too. Raises StartError with its last words."""
        give_up_at = time.monotonic() + START_SECONDS
        refused = 0
        while not (self.is_alive and self.service.is_ready()):
            if not self.is_alive:
                # After a crash PostgreSQL refuses for a moment, until the last of its old processes is gone.
                refused += 1
                self._spawn()
            if time.monotonic() > give_up_at or refused > 50:
                raise StartError(f"{self._program.name} doesn't start: {self._last_words()}")
            time.sleep(0.02 if refused < 2 else 0.2)

    def kill(self) -> None:
        """Crash it: SIGKILL, no goodbye."""
        self._signal(signal.SIGKILL)
        self._wait(seconds=30)

    def restart(self) -> None:
        """Crash it if it runs, and start it again on the same port and data."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """Shut it down in an orderly way; kill it if it doesn't listen."""
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

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing."


class EmbeddedServices:
    """A context manager: both servers run inside the block, and `env` holds what settings need to reach them.

    Without `data_dir` everything lies in a throwaway directory that is removed at the end. `durable=False` drops
    PostgreSQL's fsync: a crash of a *server* still loses nothing, a crash of the machine may.
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
        """Start both. Raises StartError; nothing runs then."""
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
        """Stop both, and remove a throwaway directory. Repeating it does nothing."""
        self._exit.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _start_servers(self, undo: contextlib.ExitStack) -> None:
        keys, ports = load_keys(self.data_dir), PortBook(self.data_dir)
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
    """The three database URLs that the settings read."""
    return {
        "DATABASE_URL": postgres.url(role="mg_app", password=keys.mg_app),
        "MIGRATE_DATABASE_URL": postgres.url(role="mg_owner", password=keys.mg_owner),
        "OPS_DATABASE_URL": postgres.url(role="mg_ops", password=keys.mg_ops),
    }


def key_env(keys: Keys) -> dict[str, str]:
    """The two secrets that the settings read."""
    return {"SECRET_KEY": keys.secret_key, "MAKEGOOD_ENCRYPTION_KEYS": keys.encryption_keys}


def _erase(data_dir: Path) -> None:
    """Remove a throwaway directory and the cluster that may lie outside it."""
    cluster = data_dir / "postgres"
    if cluster.is_symlink():
        shutil.rmtree(cluster.resolve(), ignore_errors=True)
    shutil.rmtree(data_dir, ignore_errors=True)
