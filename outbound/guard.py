"""The guard checks a URL, resolves its host once, and sends the request only to the addresses it checked."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address

import anyio
import httpx2

from outbound.addresses import Address, is_public, unwrap_ipv4
from outbound.allow import AllowList
from outbound.errors import (
    BlockedAddress,
    InvalidRequest,
    NoSuchHost,
    NotSent,
    OutboundError,
    Unknown,
    is_no_such_host,
)
from outbound.fair_threads import FairThreads
from outbound.headers import check_headers
from outbound.target import Target, canonical_host, literal_address, parse_target
from outbound.tenant import current_tenant
from outbound.transport import GuardedTransport, SendState

# Takes a host and a port, returns every address of the host as text. Raises OSError if there is none.
Resolver = Callable[[str, int], Awaitable[list[str]]]

# PROPFIND and REPORT are WebDAV methods, for calendars.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "REPORT"})
DEFAULT_MAX_BYTES = 256 * 1024
MODEL_MAX_BYTES = 16 * 1024 * 1024
USER_AGENT = "Makegood"
# Databases, queues and management consoles. No webhook listens on these ports.
CLOSED_PORTS = frozenset(
    {1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5433, 5672, 5900, 5984, 6000, 6379, 6380}
    | {6443, 7000, 7001, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 15672, 26379, 27017, 27018, 27019}
)
# A thread pool of its own, because the event loop's default pool also resolves the operator's model. Names whose
# servers never answer would fill it.
_resolver_threads = FairThreads(32, name="names")
# Below every deadline of a request by default, so that a silent name is reported as such.
RESOLVE_SECONDS = 4.0
# Errors between connecting and the last byte. During TLS, httpx2 doesn't map the last two to its own errors.
NETWORK_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OSError, ssl.SSLError, anyio.EndOfStream)


@dataclass(frozen=True)
class Response:
    """A complete response, or its first `max_bytes` if `truncated`. Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes
    truncated: bool


async def system_resolver(host: str, port: int) -> list[str]:
    """Return every address that the system's resolver gives for the host."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.wrap_future(_resolver_threads.submit(current_tenant(), look_up))
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """Allows requests to the public internet and to the operator's allow-list. Thread-safe."""

    def __init__(self, allow: Iterable[str] = (), *, resolver: Resolver = system_resolver) -> None:
        self._allow = AllowList(allow)
        self._resolver = resolver

    def check_url(self, url: str) -> Target:
        """Check a URL when it is saved: its form, and its host if that is a literal address. Names are not resolved.

        Raises BlockedAddress with a message for the person who entered the URL.
        """
        target = parse_target(url)
        self._check_host(target.host, target.port)
        return target

    def check_server(self, host: str, port: int, *, ports: frozenset[int]) -> None:
        """Check the host and port of a non-HTTP server when they are saved. Names are not resolved.

        `ports` are the protocol's own ports. Raises BlockedAddress.
        """
        self._check_host(canonical_host(host), port, ports=ports)

    def is_opened(self, target: Target) -> bool:
        """True if the allow-list names this host or its literal address."""
        literal = literal_address(target.host)
        by_address = literal is not None and self._allow.has_address(unwrap_ipv4(literal), port=target.port)
        return by_address or self._allow.has_host(target.host, port=target.port)

    async def resolve(self, host: str, port: int, *, ports: frozenset[int] = frozenset()) -> list[str]:
        """Resolve the host once and check every address. One blocked address rejects the whole host.

        `ports` are allowed in addition to the usual ones, for a protocol other than HTTP. Raises BlockedAddress, or
        NotSent (`dns`) if the name has no address: NoSuchHost if no later try will find one.
        """
        host = canonical_host(host)
        literal = self._check_host(host, port, ports=ports)
        if literal is not None:
            return [str(literal)]
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                texts = await self._resolver(host, port)
            found = [unwrap_ipv4(ip_address(text.partition("%")[0])) for text in texts]
        except TimeoutError:
            raise NotSent(
                f"The host name {host} was not resolved in {RESOLVE_SECONDS:g} seconds.", reason="dns"
            ) from None
        except (OSError, UnicodeError) as error:
            kind = NoSuchHost if is_no_such_host(error) else NotSent
            raise kind(f"The host name {host} can't be resolved.", reason="dns") from None
        for address in found:
            self._check_address(address, host=host, port=port)
        return [str(address) for address in found]

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        deadline_s: float = 10.0,
        max_bytes: int = DEFAULT_MAX_BYTES,
        on_sent: Callable[[], None] | None = None,
    ) -> Response:
        """Send one request and read its response within `deadline_s` seconds.

        Returns a Response for every status, including 3xx. `on_sent` is called once the whole request has left. Raises
        NotSent (BlockedAddress, InvalidRequest) if nothing left, Unknown if something left and no complete response
        came, Unreadable if the target responded with a status but a compressed body.
        """
        target = self.check_url(url)
        if method not in METHODS:
            raise InvalidRequest(f"The method must be one of {', '.join(sorted(METHODS))}.", reason="bad_method")
        check_headers(headers or {})
        send_state = SendState(on_sent)
        failure: OutboundError
        try:
            async with asyncio.timeout(deadline_s):
                request = httpx2.Request(method, target.url, headers=_outgoing_headers(headers or {}), content=body)
                return await self._send(request, send_state=send_state, max_bytes=max_bytes)
        except TimeoutError:
            failure = _failure(
                send_state, target, reason="deadline", what=f"did not answer within {deadline_s:g} seconds"
            )
        except NETWORK_ERRORS as exc:
            reason = "connection" if send_state.has_sent else "connect"
            failure = _failure(
                send_state, target, reason=reason, what=_describe_failure(exc, has_sent=send_state.has_sent)
            )
        # Raised outside the except clause: httpx2's exception holds the request's headers and must not become the
        # context.
        raise failure

    async def _send(self, request: httpx2.Request, *, send_state: SendState, max_bytes: int) -> Response:
        transport = GuardedTransport(self.resolve, send_state=send_state)
        async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as client:
            answer = await client.send(request, stream=True, follow_redirects=False)
            try:
                body, truncated = await _read(answer, max_bytes=max_bytes)
            finally:
                await answer.aclose()
            return Response(answer.status_code, dict(answer.headers), body, truncated)

    def _check_host(self, host: str, port: int, *, ports: frozenset[int] = frozenset()) -> Address | None:
        """Check everything that needs no resolver. Returns the address if the host is a literal one."""
        literal = literal_address(host)
        literal = None if literal is None else unwrap_ipv4(literal)
        if port not in ports:
            self._check_port(port, host=host, address=literal)
        if literal is not None:
            self._check_address(literal, host=host, port=port)
        elif (host == "localhost" or host.endswith(".localhost")) and not self._allow.has_host(host, port=port):
            raise BlockedAddress("This address is this machine itself (localhost).", reason="private_address")
        return literal

    def _check_address(self, address: Address, *, host: str, port: int) -> None:
        if is_public(address) or self._allow.has_host(host, port=port) or self._allow.has_address(address, port=port):
            return
        raise BlockedAddress(f"This address is inside a private network ({address}).", reason="private_address")

    def _check_port(self, port: int, *, host: str, address: Address | None) -> None:
        is_usual = port in (80, 443) or (1024 <= port <= 65535 and port not in CLOSED_PORTS)
        if not is_usual and not self._allow.opens_port(port, host=host, address=address):
            raise BlockedAddress(f"Port {port} may not be called.", reason="bad_port")


def transport_for(guard: Guard, *, header_names: frozenset[str] | None) -> httpx2.AsyncBaseTransport:
    """A guarded transport for an httpx2.AsyncClient that outlives one request (a tenant's model endpoint).

    Only the request headers in `header_names` (lower case) are sent, or all of them if None. Raises BlockedAddress,
    NotSent and Unreadable in addition to httpx2's own errors.
    """
    return GuardedTransport(guard.resolve, max_bytes=MODEL_MAX_BYTES, header_names=header_names)


def _outgoing_headers(headers: Mapping[str, str]) -> httpx2.Headers:
    has_agent = any(name.lower() == "user-agent" for name in headers)
    # Blanks around a value are not part of it, and httpx2 refuses to send them
    sent = {name: value.strip(" \t") for name, value in headers.items()}
    # `outbound.headers` allows accents, which httpx2 would refuse in its default encoding
    return httpx2.Headers(sent if has_agent else {"User-Agent": USER_AGENT, **sent}, encoding="latin-1")


async def _read(answer: httpx2.Response, *, max_bytes: int) -> tuple[bytes, bool]:
    body = bytearray()
    async with aclosing(answer.aiter_raw()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > max_bytes:
                return bytes(body[:max_bytes]), True
    return bytes(body), False


def _failure(send_state: SendState, target: Target, *, reason: str, what: str) -> OutboundError:
    if send_state.has_sent:
        return Unknown(f"{target.host} {what}. We don't know whether it acted on the request.", reason=reason)
    return NotSent(f"{target.host} {what}. Nothing was sent.", reason=reason)


def _describe_failure(exc: Exception, *, has_sent: bool) -> str:
    """The failure in words for staff."""
    if has_sent:
        return "closed the connection"
    is_distrusted = "certificate" in str(exc).lower()
    return "has an untrusted certificate" if is_distrusted else "could not be reached"
