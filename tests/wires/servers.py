"""PostgreSQL and Redis on a host of the tests' own."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from config.runner.embedded import EmbeddedServer
from config.runner.postgres import DATABASE, Postgres
from config.runner.program import Program
from config.runner.redis import Redis
from tests.wires.hosts import Host

# Every host of the tests' own, also as a standby.
CLIENTS = "host all all 10.213.0.0/16 scram-sha-256\nhost replication all 10.213.0.0/16 scram-sha-256\n"


@dataclass(frozen=True, kw_only=True)
class RemotePostgres(Postgres):
    """A cluster that listens on a host's address. Test processes use its Unix socket, which all hosts reach."""

    host: Host

    def program(self) -> Program:
        program = super().program()
        return replace(program, command=(*program.command, "-c", f"listen_addresses={self.host.address}"))

    def is_ready(self) -> bool:
        command = [str(self.binaries / "pg_isready"), "-q", "-h", str(self.cluster), "-p", str(self.port), "-t", "2"]
        return subprocess.run(command, check=False, cwd="/", capture_output=True).returncode == 0

    def remote_url(self, *, role: str, password: str, address: str = "") -> str:
        """The URL for processes on other hosts. `address` may name several servers, separated by commas."""
        return f"postgresql://{role}:{password}@{address or self.host.address}:{self.port}/{DATABASE}"

    def let_hosts_in(self) -> None:
        """Accept connections from other hosts, with passwords. Idempotent; takes effect at the next start."""
        access = self.cluster / "pg_hba.conf"
        if CLIENTS not in (before := access.read_text()):
            access.write_text(before + CLIENTS)


@dataclass(frozen=True, kw_only=True)
class RemoteRedis(Redis):
    """A Redis that listens on a host's address."""

    host: Host

    def program(self) -> Program:
        program = super().program()
        return replace(program, command=(*program.command, "--bind", "127.0.0.1", self.host.address))

    def is_ready(self) -> bool:
        with self.host.entered():
            return super().is_ready()

    def url(self) -> str:
        return f"redis://:{self.password}@{self.host.address}:{self.port}/0"


class RemoteServer(EmbeddedServer):
    """A server whose process runs on a host of the tests' own."""

    def __init__(self, service: RemotePostgres | RemoteRedis, *, log: Path) -> None:
        super().__init__(service, log=log)
        self._host = service.host

    def _popen(self) -> subprocess.Popen[bytes]:
        with self._host.entered():
            return super()._popen()


def on_host(service: Postgres | Redis, *, host: Host, **changes: Any) -> RemotePostgres | RemoteRedis:
    """The same service on a host."""
    kind: Any = RemotePostgres if isinstance(service, Postgres) else RemoteRedis
    values = {name: getattr(service, name) for name in service.__dataclass_fields__}
    return kind(**{**values, **changes, "host": host})
