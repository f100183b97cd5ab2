"""WebSocket connections that dial only addresses the guard has just checked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from outbound.guard import Guard

CONNECT_SECONDS = 5.0
# A peer that answers no ping within half of this time counts as gone.
HEARTBEAT_SECONDS = 15.0
MAX_MESSAGE_BYTES = 1_048_576


class _GuardedResolver(AbstractResolver):
    """Resolves through the guard, which checks each address."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=_family(address), proto=0, flags=0)
            for address in await self._guard.resolve(host, port)
        ]

    async def close(self) -> None:
        """Nothing is held."""


@asynccontextmanager
async def open_websocket(
    guard: Guard, url: str, *, headers: Mapping[str, str], max_message_bytes: int
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A connection to an http or https URL, without proxies and redirects.

    Raises BlockedAddress, NotSent, aiohttp.ClientError and TimeoutError.
    """
    guard.check_url(url)
    connector = aiohttp.TCPConnector(resolver=_GuardedResolver(guard))
    async with aiohttp.ClientSession(connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()) as http:
        async with asyncio.timeout(CONNECT_SECONDS):
            connection = await http.ws_connect(
                url,
                headers=dict(headers),
                heartbeat=HEARTBEAT_SECONDS,
                max_msg_size=max_message_bytes,
                timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
            )
        try:
            yield connection
        finally:
            await connection.close()


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
