"""PgBouncer in transaction mode, in front of the tests' PostgreSQL, with the configuration of deploy/pgbouncer.ini."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg

from config.environment import session_settings
from config.runner.account import server_account
from config.runner.embedded import EmbeddedServer, EmbeddedServices
from config.runner.postgres import DATABASE
from config.runner.program import Program
from tenancy.roles import setting_statements

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "deploy" / "pgbouncer.ini"
OLDEST = (1, 21)
ROLES = {"DATABASE_URL": "mg_app", "MIGRATE_DATABASE_URL": "mg_owner", "OPS_DATABASE_URL": "mg_ops"}


@cache
def pgbouncer() -> str:
    """The path of a PgBouncer that knows prepared statements, or ""."""
    path = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/local/bin:/usr/sbin") or ""
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else ""
    found = re.search(r"PgBouncer (\d+)\.(\d+)", shown)
    return path if found and (int(found[1]), int(found[2])) >= OLDEST else ""


@dataclass(frozen=True)
class Pooler:
    """A configured PgBouncer, with the interface of the embedded servers."""

    directory: Path
    port: int

    def program(self) -> Program:
        # Like PostgreSQL, it refuses to run as root.
        account = server_account(self.directory / "none")
        return Program(
            "pgbouncer", (pgbouncer(), str(self.directory / "pgbouncer.ini")), cwd=Path("/"), account=account
        )

    def is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def start_pooler(services: EmbeddedServices, *, directory: Path, port: int) -> tuple[EmbeddedServer, dict[str, str]]:
    """Start a pooler, and return it with the settings of its clients."""
    directory.mkdir(mode=0o755)
    postgres = services.postgres.service
    keys = json.loads((services.data_dir / "secrets.json").read_text())
    users = "".join(f'"{role}" "{keys[role]}"\n' for role in ROLES.values())
    (directory / "userlist.txt").write_text(users)
    values = {
        "listen_port": port,
        "auth_file": directory / "userlist.txt",
        "makegood": f"host=127.0.0.1 port={postgres.port}",
    }
    text = SAMPLE.read_text()
    for name, value in values.items():
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert count == 1, name
    (directory / "pgbouncer.ini").write_text(text)
    server = EmbeddedServer(Pooler(directory, port), log=directory / "log")
    server.start()
    urls = {name: f"postgresql://{role}:{keys[role]}@127.0.0.1:{port}/{DATABASE}" for name, role in ROLES.items()}
    return server, {**urls, "MAKEGOOD_DB_POOLER": "transaction"}


def give_roles_settings(services: EmbeddedServices) -> None:
    """Do as the SQL of `manage.py roles` does."""
    _run(services, setting_statements({role: session_settings(role) for role in ROLES.values()}, database=DATABASE))


def take_roles_settings(services: EmbeddedServices) -> None:
    _run(services, [f"alter role {role} in database {DATABASE} reset all" for role in ROLES.values()])


def _run(services: EmbeddedServices, statements: list[str]) -> None:
    with psycopg.connect(services.postgres.service.admin_url(database="postgres"), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
