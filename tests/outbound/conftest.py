"""A server that counts connections, a record of the addresses called, and a scripted resolver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import httpcore2
import pytest
import pytest_asyncio

from outbound.guard import Resolver

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every address that a connection is opened to. Only connections to loopback are really made."""
    addresses: list[str] = []
    connect = httpcore2.AnyIOBackend.connect_tcp

    async def spy(
        self: httpcore2.AnyIOBackend, host: str, port: int, *args: object, **options: object
    ) -> httpcore2.AsyncNetworkStream:
        addresses.append(host)
        if host not in ("127.0.0.1", "::1"):
            raise httpcore2.ConnectError("there is no outside world here")
        return await connect(self, host, port, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", spy)
    return addresses


class Trap:
    """Listens on every address of this machine and counts connections."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


@pytest_asyncio.fixture
async def trap() -> AsyncIterator[Trap]:
    trap = Trap()
    server = await asyncio.start_server(trap.serve, "0.0.0.0", 0)
    trap.port = server.sockets[0].getsockname()[1]
    yield trap
    server.close()


@pytest.fixture
def resolver_of() -> Callable[..., Resolver]:
    """Returns a factory for resolvers that give these answers in order. The last answer repeats.

    `calls` counts the calls.
    """

    def make(*answers: list[str]) -> Resolver:
        left = list(answers)

        async def resolve(host: str, port: int) -> list[str]:
            resolve.calls += 1  # type: ignore[attr-defined]
            return left.pop(0) if len(left) > 1 else left[0]

        resolve.calls = 0  # type: ignore[attr-defined]
        return resolve

    return make


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    """Returns a function that starts a server with a handler and returns its URL.

    Teardown waits for all clients to leave.
    """
    servers: list[asyncio.Server] = []
    visits: set[asyncio.Task[None]] = set()

    async def start(handler: Handler) -> str:
        async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            visits.add(task)
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await handler(reader, writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

        server = await asyncio.start_server(visited, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"

    yield start
    for server in servers:
        server.close()
    async with asyncio.timeout(5):
        await asyncio.gather(*visits)
