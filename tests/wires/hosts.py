"""Hosts of the tests' own: network namespaces around a router that can drop packets, in one direction or both.

Nothing closes a connection across a black hole. Its packets are lost without an answer, as behind a pulled cable or a
firewall that forgot the connection.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_NAMESPACES = Path("/run/netns")
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_OURS = re.compile(r"makegood-(\d+)-.*")
_libc = ctypes.CDLL(None, use_errno=True)


class NoNetworks(RuntimeError):
    """This account or system can't create network namespaces."""


@dataclass(frozen=True)
class Host:
    """A network namespace with one address. The router is its only neighbor."""

    name: str
    address: str
    namespace: str

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Move the calling thread to this host. Sockets and processes that it creates inside stay there.

        Unix sockets connect from every host.
        """
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(_NAMESPACES / self.namespace, os.O_RDONLY)
        try:
            _enter(there)
            try:
                yield
            finally:
                _enter(here)
        finally:
            os.close(here)
            os.close(there)


class Network:
    """Some hosts and the router between them. `close` removes everything.

    Raises NoNetworks if this account may not create namespaces.
    """

    def __init__(self, *names: str) -> None:
        self._prefix = f"makegood-{os.getpid()}-"
        self._dropped: set[tuple[str, str]] = set()
        self._router = f"{self._prefix}router"
        self._exit = ExitStack()
        self.hosts: dict[str, Host] = {}
        _require_namespaces()
        _remove_abandoned()
        try:
            self._add_namespace(self._router)
            _ip("netns", "exec", self._router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
            for name in names:
                self.add_host(name)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def add_host(self, name: str) -> Host:
        """Another host, linked to the router."""
        number = len(self.hosts) + 1
        host = Host(name, f"10.213.{number}.2", f"{self._prefix}{name}")
        self._add_namespace(host.namespace)
        near, far = f"mg{number}", f"to-{name}"[:15]
        _ip("-n", self._router, "link", "add", far, "type", "veth", "peer", "name", near, "netns", host.namespace)
        for namespace, link, address in (
            (self._router, far, f"10.213.{number}.1/24"),
            (host.namespace, near, f"{host.address}/24"),
        ):
            _ip("-n", namespace, "address", "add", address, "dev", link)
            _ip("-n", namespace, "link", "set", link, "up")
        _ip("-n", host.namespace, "route", "add", "default", "via", f"10.213.{number}.1")
        self.hosts[name] = host
        return host

    def black_hole(self, source: str, destination: str) -> None:
        """Drop every packet from one host to another. The other direction stays open."""
        if (source, destination) not in self._dropped:
            self._rule("add", source, destination)
            self._dropped.add((source, destination))

    def cut(self, one: str, other: str) -> None:
        """Drop every packet between two hosts."""
        self.black_hole(one, other)
        self.black_hole(other, one)

    def heal(self) -> None:
        """Pass on all packets again."""
        for source, destination in list(self._dropped):
            self._rule("del", source, destination)
            self._dropped.discard((source, destination))

    def close(self) -> None:
        """Remove the namespaces. Processes inside have to be ended before. Idempotent."""
        self._exit.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rule(self, verb: str, source: str, destination: str) -> None:
        direction = ("from", self.hosts[source].address, "to", self.hosts[destination].address)
        _ip("-n", self._router, "rule", verb, *direction, "blackhole")

    def _add_namespace(self, namespace: str) -> None:
        _ip("netns", "add", namespace)
        self._exit.callback(_remove, namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _require_namespaces() -> None:
    if not shutil.which("ip"):
        raise NoNetworks("There is no ip command here: install iproute2.")
    if os.geteuid() != 0:
        raise NoNetworks("Only root may create network namespaces: run these tests as root.")


def _remove_abandoned() -> None:
    """Remove the namespaces of a test run that was killed."""
    for path in _NAMESPACES.glob("makegood-*"):
        owner = _OURS.fullmatch(path.name)
        if owner and not Path("/proc", owner[1]).exists():
            with suppress(NoNetworks):
                _remove(path.name)


def _remove(namespace: str) -> None:
    _ip("netns", "delete", namespace)


def _ip(*words: str) -> None:
    ran = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if ran.returncode:
        raise NoNetworks(f"`{_line(words)}` failed: {ran.stderr.strip()}")


def _line(words: Sequence[str]) -> str:
    return " ".join(["ip", *words])
