"""`bin/serve`: starts everything that Makegood needs, in order of dependency."""

from __future__ import annotations

import asyncio
import http.client
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from config.runner import programs
from config.runner.child import Child
from config.runner.databases import create_databases
from config.runner.embedded import key_env, postgres_env
from config.runner.forking import CAN_FORK
from config.runner.keys import load_keys
from config.runner.log import ServiceLog
from config.runner.manage import MIGRATE_NOISE, count_migrations, manage, run_manage
from config.runner.ports import LOOPBACK, PortStore, is_open
from config.runner.postgres import prepare_postgres
from config.runner.preflight import check_servers
from config.runner.preparation import DemoFile, DemoLogin, Preparation
from config.runner.program import Program
from config.runner.redis import prepare_redis
from config.runner.supervisor import Supervisor, Tier

RECOVERY_SECONDS = 600.0
APP_SECONDS = 120.0


@dataclass(frozen=True)
class ServeOptions:
    """The options of the command line."""

    host: str
    port: int
    data_dir: Path
    # The directory of the fork server's socket. The path must be short.
    run_dir: Path

    @property
    def local_host(self) -> str:
        """The host name of the web process on this machine."""
        return LOOPBACK if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - compared, not bound

    @property
    def base_url(self) -> str:
        """The URL of the web process on this machine."""
        host = f"[{self.local_host}]" if ":" in self.local_host else self.local_host
        return f"http://{host}:{self.port}"


class Serve:
    """One start. `env` becomes the environment of our own processes step by step."""

    def __init__(self, options: ServeOptions, *, supervisor: Supervisor, log: ServiceLog) -> None:
        self._options = options
        self._supervisor = supervisor
        self._log = log
        self._data_dir = options.data_dir
        self._ports = PortStore(options.data_dir)
        self._keys = load_keys(options.data_dir)
        self._env = base_env(options, os.environ)
        self._model_url: str | None = None
        self._fork_server: Path | None = None

    async def start(self) -> None:
        """Start everything and print the demo's login. Raises StartError."""
        began = time.monotonic()
        demo_file = DemoFile(self._data_dir)
        demo_file.remove()
        await asyncio.to_thread(check_servers, self._env)
        await self._start_services()
        self._env = key_env(self._keys) | self._env
        await self._start_fork_server()
        preparation = Preparation(self._data_dir, root=programs.ROOT, database_url=self._env["MIGRATE_DATABASE_URL"])
        login = preparation.login()
        if login is None:
            login = await self._prepare()
            preparation.mark_done(login)
        await self._start_web()
        self._start_workers()
        demo_file.write(login, base_url=self._options.base_url, model_url=self._model_url)
        self._welcome(login, seconds=time.monotonic() - began)

    async def _start_services(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for service in (self._start_postgres(), self._start_redis(), self._start_model()):
                    group.create_task(service)
        except ExceptionGroup as failures:
            # The other tasks have been canceled; report the first failure.
            raise failures.exceptions[0] from None

    async def _start_postgres(self) -> None:
        if "DATABASE_URL" in self._env:
            return
        with self._log.step("PostgreSQL"):
            port = self._ports.assign("postgres")
            postgres = await asyncio.to_thread(prepare_postgres, self._data_dir, keys=self._keys, port=port)
            if postgres.cluster.parent != self._data_dir:
                self._log.say(f"PostgreSQL's account can't enter {self._data_dir}; its files are in {postgres.cluster}")
            child = self._supervisor.start(postgres.program(), tier=Tier.STORES)
            await self._supervisor.wait_ready(child, postgres.is_ready, seconds=RECOVERY_SECONDS)
            await asyncio.to_thread(create_databases, postgres, keys=self._keys)
            # On the embedded database, the demo's shop is available with its orders.
            self._env = {"MAKEGOOD_DEMO_SHOP": "1"} | self._env | postgres_env(postgres, keys=self._keys)

    async def _start_redis(self) -> None:
        if "REDIS_URL" in self._env:
            return
        with self._log.step("Redis"):
            redis = prepare_redis(self._data_dir, keys=self._keys, port=self._ports.assign("redis"))
            child = self._supervisor.start(redis.program(), tier=Tier.STORES)
            await self._supervisor.wait_ready(child, redis.is_ready, seconds=RECOVERY_SECONDS)
            self._env["REDIS_URL"] = redis.url()

    async def _start_model(self) -> None:
        if "OPENAI_API_KEY" in self._env or "OPENAI_BASE_URL" in self._env:
            return
        with self._log.step("the offline model (set OPENAI_API_KEY or OPENAI_BASE_URL for a real one)"):
            port = self._ports.assign("model")
            child = self._supervisor.start(programs.offline_model(port=port, env=self._env), tier=Tier.APPS)
            await self._supervisor.wait_ready(child, lambda: is_open(port), seconds=APP_SECONDS)
            self._model_url = f"http://{LOOPBACK}:{port}"
            self._env |= programs.offline_env(self._model_url)
            await self._start_calls()

    async def _start_calls(self) -> None:
        """Start the providers of calls and messages whose customer types in the console."""
        port = self._ports.assign("calls")
        child = self._supervisor.start(programs.offline_calls(port=port, env=self._env), tier=Tier.APPS)
        await self._supervisor.wait_ready(child, lambda: is_open(port), seconds=APP_SECONDS)
        self._env |= programs.offline_providers_env(f"http://{LOOPBACK}:{port}")

    async def _start_fork_server(self) -> None:
        """Start the fork server. It accepts requests at once, loads while the database is migrated, and then forks."""
        if CAN_FORK:
            socket = self._fork_server = self._options.run_dir / "forks"
            child = self._supervisor.start(programs.fork_server(socket=socket, env=self._env), tier=Tier.FORKS)
            await self._supervisor.wait_ready(child, socket.exists, seconds=APP_SECONDS)

    async def _prepare(self) -> DemoLogin:
        with self._log.step("tables") as show:
            migrate = self._manage("migrate", "--no-input", noise=MIGRATE_NOISE)
            await run_manage(migrate, log=self._log, on_line=count_migrations(show))
        with self._log.step("the demo organization"):
            demo = self._manage("demo", "--json", noise=r"^\{.*")
            lines = await run_manage(demo, log=self._log)
            return DemoLogin.parse(next((line for line in reversed(lines) if line.startswith("{")), ""))

    def _manage(self, *arguments: str, noise: str) -> Program:
        return manage(*arguments, env=self._env, fork_server=self._fork_server, noise=noise)

    async def _start_web(self) -> None:
        host, port = self._options.local_host, self._options.port
        # A Host header that MAKEGOOD_ALLOWED_HOSTS accepts.
        name = urlsplit(self._env["MAKEGOOD_BASE_URL"]).netloc
        with self._log.step("the web process"):
            program = programs.web(host=self._options.host, port=port, env=self._env)
            child = self._start_ours(program)
            await self._supervisor.wait_ready(child, lambda: is_healthy(host, port, name=name), seconds=APP_SECONDS)

    def _start_workers(self) -> None:
        for program in (
            programs.reply_worker(env=self._env),
            programs.work_worker(env=self._env),
            programs.beat(data_dir=self._data_dir, env=self._env),
        ):
            self._start_ours(program)

    def _start_ours(self, program: Program) -> Child:
        return self._supervisor.start(replace(program, fork_server=self._fork_server), tier=Tier.APPS)

    def _welcome(self, login: DemoLogin, *, seconds: float) -> None:
        self._log.say(f"Makegood answers at {self._env['MAKEGOOD_BASE_URL']} after {seconds:.1f} s")
        self._log.say(f"A shop with the demo's widget: {self._env['MAKEGOOD_BASE_URL']}/demo/shop")
        if self._log.shows_secrets:
            self._log.say(f"Demo login: {login.email}, password {login.password}")
        self._log.say(f"The demo's login and API key are in {self._data_dir / 'demo.json'}. Ctrl-C stops everything.")


def base_env(options: ServeOptions, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of our own processes before any service runs: the operator's values, without empty ones."""
    given = {name: value for name, value in environ.items() if value}
    return (
        {"MAKEGOOD_BASE_URL": options.base_url}
        | given
        | {
            "MAKEGOOD_DATA": str(options.data_dir),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            # The log of this runner has the time of every program's lines.
            "MAKEGOOD_LOG_UNTIMED": "1",
        }
    )


def is_healthy(host: str, port: int, *, name: str) -> bool:
    """True if GET /healthz for the site `name` returns 200. It returns 503 while PostgreSQL is down."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": name})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
