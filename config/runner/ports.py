"""TCP ports on the loopback address, stored so that the next start uses the same ones."""

from __future__ import annotations

import json
import secrets
import socket
from pathlib import Path

from config.runner.errors import StartError

LOOPBACK = "127.0.0.1"
# Below the ephemeral range, so that no outgoing connection can take a port between the choice and the bind.
FIRST, COUNT = 20_000, 10_000


def is_free(port: int, *, host: str = LOOPBACK) -> bool:
    """True if a server could listen on `port` now. A port in TIME_WAIT counts as free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def is_open(port: int) -> bool:
    """True if a server accepts connections on `port`."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0


def free_port() -> int:
    """A free port."""
    for _ in range(200):
        port = FIRST + secrets.randbelow(COUNT)
        if is_free(port):
            return port
    raise StartError(f"No free port between {FIRST} and {FIRST + COUNT}. Stop a program that listens there.")


class PortStore:
    """`ports.json` of a data directory: a service keeps its port as long as it is free."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "ports.json"

    def assign(self, service: str) -> int:
        """The port for `service`, which is free now. A new one is stored."""
        book = self._read()
        port = book.get(service, 0)
        if not port or not is_free(port):
            port = free_port()
            self._file.write_text(json.dumps({**book, service: port}) + "\n")
        return port

    def stored(self, service: str) -> int:
        """The port that `service` was last started with, or 0."""
        return self._read().get(service, 0)

    def _read(self) -> dict[str, int]:
        try:
            book = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return {name: port for name, port in book.items() if isinstance(port, int)} if isinstance(book, dict) else {}
