"""The operator's allow-list of local targets."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

from outbound.addresses import Address
from outbound.target import canonical_host


class AllowList:
    """Targets that may be called although they are private.

    An entry is `host`, `host:port`, an address with or without a port, or a CIDR range. An entry with a port also opens
    that port if it is otherwise closed (5432, 25); an entry without a port doesn't. Raises ValueError or BlockedAddress
    for any other entry.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._hosts: set[tuple[str, int | None]] = set()
        self._networks: list[tuple[IPv4Network | IPv6Network, int | None]] = []
        for entry in entries:
            self._add(entry.strip())

    def has_host(self, host: str, *, port: int) -> bool:
        """True if the list names this host. Its addresses don't matter."""
        return (host, None) in self._hosts or (host, port) in self._hosts

    def has_address(self, address: Address, *, port: int) -> bool:
        """True if the list holds this address. The host name doesn't matter."""
        return any(address in network and entry_port in (None, port) for network, entry_port in self._networks)

    def opens_port(self, port: int, *, host: str, address: Address | None) -> bool:
        """True if an entry names exactly this port for the host or the address."""
        if (host, port) in self._hosts:
            return True
        return address is not None and any(
            address in network and entry_port == port for network, entry_port in self._networks
        )

    def _add(self, entry: str) -> None:
        host, port = _split_port(entry)
        try:
            self._networks.append((ip_network(host, strict=False), port))
        except ValueError:
            if "/" in host:
                raise ValueError(f"{entry!r} is not a host, a host:port or a CIDR range.") from None
            self._hosts.add((canonical_host(host), port))


def _split_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, _, port = entry[1:].rpartition("]")
        return host, int(port.removeprefix(":")) if port else None
    if entry.count(":") == 1:
        host, _, port = entry.partition(":")
        return host, int(port)
    return entry, None
