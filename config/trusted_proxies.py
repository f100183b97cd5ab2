"""The client's address and scheme, as forwarded by trusted proxies."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

from projects.api.body_limit import App, Receive, Scope, Send
from projects.common.addresses import parse_address

log = logging.getLogger(__name__)

Network = IPv4Network | IPv6Network
FORWARDED_FOR, FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"
SCHEMES = frozenset({"http", "https"})
CACHED_PEERS = 4096


class TrustedProxies:
    """ASGI middleware that takes the client from `X-Forwarded-For` and the scheme from `X-Forwarded-Proto`.

    Only headers of a connection from one of the `networks` count. Those of others are ignored, and the first one is
    logged.
    """

    def __init__(self, app: App, *, networks: Sequence[Network]) -> None:
        self._app = app
        self._networks = networks
        self._has_warned = False
        self._is_trusted = lru_cache(maxsize=CACHED_PEERS)(self._in_networks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._set_client(scope)
        await self._app(scope, receive, send)

    def _set_client(self, scope: Scope) -> None:
        addresses = _values(scope, FORWARDED_FOR)
        schemes = _values(scope, FORWARDED_PROTO)
        if not addresses and not schemes:
            return
        peer = scope["client"][0] if scope.get("client") else ""
        if not self._is_trusted(peer):
            self._warn(peer)
            return
        if addresses:
            scope["client"] = (self._client_of(addresses, peer=peer), 0)
        if schemes and schemes[-1].lower() in SCHEMES:
            scope["scheme"] = schemes[-1].lower()

    def _client_of(self, addresses: Iterable[str], *, peer: str) -> str:
        """The last address that is no trusted proxy. Each proxy appends the address that it saw, so those before it may
        be invented.
        """
        client = peer
        for text in reversed([*addresses]):
            address = parse_address(text)
            if address is None:
                break
            client = str(address)
            if not self._is_trusted(client):
                break
        return client

    def _in_networks(self, peer: str) -> bool:
        address = parse_address(peer)
        return address is not None and any(address in network for network in self._networks)

    def _warn(self, peer: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning(
                "Ignored a forwarded header from %s. If that is your proxy, add it to MAKEGOOD_TRUSTED_PROXIES;"
                " until then, all its clients share its address and its limits. This is logged once.",
                peer or "a connection without an address",
            )


def _values(scope: Scope, name: bytes) -> list[str]:
    """The comma-separated values of a header, which may be repeated."""
    found = [value for key, value in scope["headers"] if key == name]
    return [part.strip() for part in b",".join(found).decode("latin-1").split(",")] if found else []
