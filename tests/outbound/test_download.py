"""Downloads follow a few redirects, each of which is checked, and keep credentials to one server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import pytest

from outbound.download import _follow, download
from outbound.errors import BlockedAddress, OutboundError, Unreadable
from outbound.guard import Guard

Serve = Callable[..., Awaitable[str]]
GUARD = Guard(["127.0.0.1"])
SECRET = {"Authorization": "Bearer canary"}


def answers(head: str, body: bytes = b"", *, seen: list[bytes] | None = None) -> Callable[..., Awaitable[None]]:
    """A server that sends this, and notes the heads of its requests."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        if seen is not None:
            seen.append(asked)
        writer.write(f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)

    return handle


async def fetch(url: str, *, guard: Guard = GUARD, max_bytes: int = 100) -> tuple[int, bytes, bool]:
    response = await download(guard, url, max_bytes=max_bytes, deadline_s=5, credentials=SECRET)
    return response.status, response.body, response.truncated


async def test_a_redirect_is_followed_without_the_credentials(serve: Serve) -> None:
    seen: list[bytes] = []
    store = await serve(answers("200 OK", b"file", seen=seen))
    first = await serve(answers(f"302 Found\r\nLocation: {store}", seen=seen))
    assert await fetch(first) == (200, b"file", False)
    assert [b"canary" in head for head in seen] == [True, False]


async def test_a_redirect_within_the_server_keeps_the_credentials(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_first = not seen
        await answers("307 X\r\nLocation: /there" if is_first else "200 OK", seen=seen)(reader, writer)

    assert (await fetch(await serve(handle)))[0] == 200
    assert [b"canary" in head for head in seen] == [True, True]


@pytest.mark.parametrize(
    "place",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://127.0.0.2:8080/",
        "file:///etc/passwd",
        "http://user:password@127.0.0.1/",
        "http://[broken",
    ],
)
async def test_a_redirect_into_the_private_network_is_blocked(place: str, serve: Serve) -> None:
    first = await serve(answers(f"302 Found\r\nLocation: {place}"))
    with pytest.raises(BlockedAddress):
        await fetch(first)


async def test_a_redirect_to_a_name_of_the_private_network_is_blocked(
    serve: Serve, resolver_of: Callable[..., object]
) -> None:
    port = urlsplit(first := await serve(answers("302 Found\r\nLocation: http://inner.example/"))).port
    with pytest.raises(OutboundError) as caught:
        await fetch(first, guard=Guard([f"127.0.0.1:{port}"], resolver=resolver_of(["10.0.0.7"])))
    assert isinstance(caught.value, BlockedAddress)


async def test_redirects_end(serve: Serve) -> None:
    seen: list[bytes] = []
    endless = await serve(answers("302 Found\r\nLocation: /hook", seen=seen))
    with pytest.raises(Unreadable, match="redirects too often"):
        await fetch(endless)
    assert len(seen) == 4


def test_https_never_becomes_http() -> None:
    with pytest.raises(BlockedAddress, match="without https"):
        _follow("https://example.com/a", "http://example.com/a")


async def test_a_long_file_is_cut(serve: Serve) -> None:
    assert await fetch(await serve(answers("200 OK", bytes(200)))) == (200, bytes(100), True)


async def test_a_compressed_file_is_refused(serve: Serve) -> None:
    url = await serve(answers("200 OK\r\nContent-Encoding: gzip", b"\x1f\x8b"))
    with pytest.raises(Unreadable):
        await fetch(url)


async def test_a_silent_server_ends_at_the_deadline(serve: Serve) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    url = await serve(silent)
    with pytest.raises(OutboundError):
        await download(GUARD, url, max_bytes=10, deadline_s=0.2)
