"""An HTTP transport that connects only to addresses the guard has just checked."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

from outbound.errors import BlockedAddress, NotSent, Unreadable
from outbound.silence import SOCKET_OPTIONS

# Takes a host and a port, returns the checked addresses to connect to. Raises NotSent or BlockedAddress.
Resolve = Callable[[str, int], Awaitable[list[str]]]

CONNECT_TIMEOUT_S = 5.0
MOST_ADDRESSES = 4
# Idle connections kept for the next request to the same server
MOST_IDLE = 100
PLAIN_ENCODINGS = frozenset({"", "identity"})


@cache
def _tls() -> ssl.SSLContext:
    # Loading the trust store takes tens of milliseconds
    return httpx2.create_ssl_context(trust_env=False)


class SendState:
    """Records whether any byte of an HTTP request has left.

    `on_sent` is called once, when the whole request has left and the response is awaited.
    """

    def __init__(self, on_sent: Callable[[], None] | None = None) -> None:
        self.has_sent = False
        self._on_sent = on_sent

    def mark_complete(self) -> None:
        on_sent, self._on_sent = self._on_sent, None
        if on_sent is not None:
            on_sent()


class _ObservedStream(httpcore2.AsyncNetworkStream):
    """Records the first write. A TLS handshake doesn't count, because it goes through the inner stream."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream, send_state: SendState) -> None:
        self._inner = inner
        self._wire = send_state

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._wire.has_sent:
            self._wire.mark_complete()
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._wire.has_sent = self._wire.has_sent or bool(buffer)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return _ObservedStream(await self._inner.start_tls(ssl_context, server_hostname, timeout), self._wire)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections: resolves the host once, checks every address, and connects only to those."""

    def __init__(self, resolve: Resolve, send_state: SendState) -> None:
        self._resolve = resolve
        self._wire = send_state
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: Exception | None = None
        for address in (await self._resolve(host, port))[:MOST_ADDRESSES]:
            try:
                stream = await self._inner.connect_tcp(
                    address, port, timeout or CONNECT_TIMEOUT_S, socket_options=SOCKET_OPTIONS
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as exc:
                failure = exc
            else:
                return _ObservedStream(stream, self._wire)
        raise failure or NotSent(f"The host name {host} has no address.", reason="dns")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise BlockedAddress("Local sockets may not be called.", reason="bad_scheme")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _CappedStream(httpx2.AsyncByteStream):
    """A body of at most `max_bytes` bytes."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, max_bytes: int, status: int) -> None:
        self._inner = inner
        self._left = max_bytes
        self._status = status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise Unreadable("The response is too long.", reason="too_long", status=self._status)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """An httpx2 transport with HTTP/1.1, no proxies, no retries and no decompression.

    `max_bytes` limits the response body. Only the request headers in `header_names` (lower case) are sent.
    """

    def __init__(
        self,
        resolve: Resolve,
        *,
        send_state: SendState | None = None,
        max_bytes: int | None = None,
        header_names: frozenset[str] | None = None,
    ) -> None:
        super().__init__(verify=_tls(), trust_env=False)
        # The base class has no parameter for a network backend. A rename of this attribute would fail tests/outbound.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_tls(),
            network_backend=_GuardedBackend(resolve, send_state or SendState()),
            # No limit: with the default of ten, one tenant's unresponsive server would hold up all other tenants
            max_connections=None,
            max_keepalive_connections=MOST_IDLE,
            keepalive_expiry=30.0,
        )
        self._max_bytes = max_bytes
        self._header_names = header_names

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request. Raises Unreadable for a compressed response, which could grow from kilobytes to gigabytes."""
        response = await super().handle_async_request(self._outgoing(request))
        if response.headers.get("content-encoding", "").strip().lower() not in PLAIN_ENCODINGS:
            await response.aclose()
            raise Unreadable("The response is compressed.", reason="content_encoding", status=response.status_code)
        if self._max_bytes is not None and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _CappedStream(response.stream, max_bytes=self._max_bytes, status=response.status_code)
        return response

    def _outgoing(self, request: httpx2.Request) -> httpx2.Request:
        # A copy, because the client reads the headers of the original request afterwards
        names = self._header_names
        raw = request.headers.raw
        headers = httpx2.Headers([pair for pair in raw if names is None or pair[0].decode("ascii").lower() in names])
        headers["Accept-Encoding"] = "identity"
        return httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )
