"""Requests over real sockets, to servers that behave and servers that don't."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from outbound.errors import NotSent, OutboundError, Outcome, Unknown, Unreadable
from outbound.guard import Guard

Serve = Callable[..., Awaitable[str]]
GUARD = Guard(["127.0.0.1", "localhost"])
KIB = 1024


def says(*parts: bytes, then_hang: bool = False) -> Callable[..., Awaitable[None]]:
    """A server that reads the head of a request, sends these bytes, and closes or waits."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
        if then_hang:
            await reader.read()
        writer.close()

    return handle


def repeats(head: bytes, part: bytes, *, pause_s: float = 0.0) -> Callable[..., Awaitable[None]]:
    """A server whose response never ends."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        try:
            while True:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause_s)
        except ConnectionError:
            writer.close()

    return handle


async def test_request_and_response_arrive_complete(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        seen.append(await reader.readexactly(5))
        writer.write(b"HTTP/1.1 201 Created\r\nX-Id: 7\r\nContent-Length: 4\r\n\r\ndone")
        writer.close()

    url = await serve(handle)
    answer = await GUARD.request("POST", f"{url}?a=1", headers={"X-Key": "k"}, body=b"hello")
    assert (answer.status, answer.headers["x-id"], answer.body, answer.truncated) == (201, "7", b"done", False)
    lines = seen[0].decode().lower().split("\r\n")
    assert lines[0] == "post /hook?a=1 http/1.1"
    assert {"x-key: k", "accept-encoding: identity", "content-length: 5", "user-agent: makegood"} <= set(lines)
    assert f"host: {url.split('/')[2]}" in lines
    assert seen[1] == b"hello"


async def test_blanks_around_a_header_value_are_stripped(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    await GUARD.request("POST", await serve(handle), headers={"X-Key": " Bearer a b\t"})
    assert b"\r\nX-Key: Bearer a b\r\n" in seen[0]


async def test_a_custom_user_agent_and_accents_are_sent_unchanged(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    await GUARD.request("POST", await serve(handle), headers={"user-agent": "Ours/1", "X-Note": "naïve"})
    lines = seen[0].split(b"\r\n")
    assert [line for line in lines if line.lower().startswith(b"user-agent")] == [b"user-agent: Ours/1"]
    assert "X-Note: naïve".encode("latin-1") in lines


async def test_a_response_of_exactly_the_maximum_size_is_not_truncated(serve: Serve) -> None:
    url = await serve(says(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000))
    answer = await GUARD.request("GET", url, max_bytes=1000)
    assert (len(answer.body), answer.truncated) == (1000, False)


async def test_the_checked_address_is_called_under_the_original_name(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    port = (await serve(handle)).split(":")[2].split("/")[0]
    await Guard(["127.0.0.1"], resolver=to_loopback).request("GET", f"http://hooks.example:{port}/")
    assert f"host: hooks.example:{port}\r\n".encode() in seen[0].lower()


async def test_proxies_from_the_environment_are_ignored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    url = await serve(says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    assert (await GUARD.request("GET", url)).status == 200


@pytest.mark.parametrize("status", [200, 302, 404, 429, 500, 503])
async def test_every_status_is_a_response(status: int, serve: Serve) -> None:
    url = await serve(says(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()))
    assert (await GUARD.request("POST", url)).status == status


async def test_a_long_response_is_truncated(serve: Serve) -> None:
    url = await serve(says(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000))
    answer = await GUARD.request("GET", url, max_bytes=1000)
    assert (answer.body, answer.truncated) == (b"x" * 1000, True)


async def test_an_endless_response_is_truncated(serve: Serve) -> None:
    url = await serve(repeats(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 64 * KIB))
    answer = await GUARD.request("GET", url)
    assert (len(answer.body), answer.truncated) == (256 * KIB, True)


HOSTILE: dict[str, Callable[..., Awaitable[None]]] = {
    "says nothing": says(then_hang=True),
    "stops in the head": says(b"HTTP/1.1 200 OK\r\nX-A: 1\r\n", then_hang=True),
    "drips headers": repeats(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n", pause_s=0.02),
    "endless headers": repeats(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"1" * 4000 + b"\r\n"),
    "endless informational answers": repeats(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.001),
    "stops in the body": says(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", then_hang=True),
    "drips the body": repeats(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x", pause_s=0.02),
    "short body": says(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
    "short chunk": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc"),
    "no last chunk": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
    "two lengths": says(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    "a length that is no number": says(b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc"),
    "no HTTP": says(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "closes at once": says(),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_the_outcome_is_unknown_after_a_hostile_response(name: str, serve: Serve) -> None:
    url = await serve(HOSTILE[name])
    async with asyncio.timeout(3):
        with pytest.raises(Unknown) as caught:
            await GUARD.request("POST", url, body=b"{}", deadline_s=0.4)
    assert caught.value.outcome is Outcome.UNKNOWN
    assert caught.value.reason in {"deadline", "connection"}


async def test_the_outcome_is_unknown_after_a_connection_reset(serve: Serve) -> None:
    async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    with pytest.raises(Unknown):
        await GUARD.request("POST", await serve(resets), body=b"x" * 100)


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "GZIP", "x-own"])
async def test_a_compressed_response_is_rejected_with_its_status(encoding: str, serve: Serve) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(bomb)}\r\n\r\n"
    with pytest.raises(Unreadable) as caught:
        await GUARD.request("POST", await serve(says(head.encode() + bomb)))
    assert (caught.value.status, caught.value.outcome) == (200, Outcome.DONE)


async def test_cancelling_closes_the_connection(serve: Serve) -> None:
    arrived, left = asyncio.Event(), asyncio.Event()

    async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()
        left.set()

    task = asyncio.create_task(GUARD.request("GET", await serve(waits)))
    async with asyncio.timeout(5):
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left.wait()


async def test_a_refused_connection_means_not_sent(unused_tcp_port: int) -> None:
    with pytest.raises(NotSent) as caught:
        await GUARD.request("POST", f"http://127.0.0.1:{unused_tcp_port}/")
    assert (caught.value.reason, caught.value.outcome) == ("connect", Outcome.NOT_SENT)


async def test_a_deadline_during_the_lookup_means_not_sent() -> None:
    async def resolver(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(NotSent) as caught:
        await Guard(resolver=resolver).request("POST", "http://hooks.example/", deadline_s=0.1)
    assert caught.value.reason == "deadline"


async def test_the_next_address_is_tried_after_a_refusal(serve: Serve) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    port = (await serve(says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))).split(":")[2].split("/")[0]
    guard = Guard(["127.0.0.0/8"], resolver=resolver)
    assert (await guard.request("GET", f"http://hooks.example:{port}/")).status == 200


async def test_errors_contain_no_secrets(serve: Serve) -> None:
    url = await serve(says())
    with pytest.raises(OutboundError) as caught:
        await GUARD.request("POST", f"{url}?token=canary", headers={"X-Key": "canary"}, body=b"canary")
    assert "canary" not in repr(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + signed.public_bytes(Encoding.PEM)
    )
    return path


@dataclass
class TlsServer:
    port: int
    names: list[str]
    received: bytearray
    answers: bool = True


@pytest_asyncio.fixture
async def tls_server(certificate: Path) -> AsyncIterator[TlsServer]:
    """Responds with 204 over TLS. Records the requested server names and the received bytes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda sock, name, ctx: found.names.append(str(name))

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.received.extend(await reader.readuntil(b"\r\n\r\n"))
        if found.answers:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            await writer.drain()
            await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    found = TlsServer(server.sockets[0].getsockname()[1], [], bytearray())
    yield found
    server.close()


async def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_an_untrusted_certificate_means_not_sent(tls_server: TlsServer) -> None:
    with pytest.raises(NotSent) as caught:
        await GUARD.request("POST", f"https://localhost:{tls_server.port}/", body=b"secret")
    assert (caught.value.reason, tls_server.names, tls_server.received) == ("connect", ["localhost"], b"")


async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)


async def speaks_no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize("handler", [hangs_up, speaks_no_tls])
async def test_a_failed_handshake_means_not_sent(handler: Callable[..., Awaitable[None]], serve: Serve) -> None:
    url = (await serve(handler)).replace("http://", "https://")
    with pytest.raises(NotSent) as caught:
        await GUARD.request("POST", url, body=b"secret")
    assert caught.value.reason == "connect"


@pytest.fixture
def certificate_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr("outbound.transport._tls", lambda: context)


@pytest.mark.usefixtures("certificate_is_trusted")
async def test_the_certificate_is_checked_against_the_name_not_the_address(tls_server: TlsServer) -> None:
    guard = Guard(["127.0.0.1", "localhost"], resolver=to_loopback)
    assert (await guard.request("GET", f"https://localhost:{tls_server.port}/")).status == 204
    with pytest.raises(NotSent):
        await guard.request("GET", f"https://other.example:{tls_server.port}/")
    assert tls_server.names == ["localhost", "other.example"]
    assert f"host: localhost:{tls_server.port}".encode() in tls_server.received.lower()


@pytest.mark.usefixtures("certificate_is_trusted")
async def test_the_outcome_is_unknown_without_a_response_over_tls(tls_server: TlsServer) -> None:
    tls_server.answers, sent = False, []
    with pytest.raises(Unknown) as caught:
        await GUARD.request("GET", f"https://localhost:{tls_server.port}/", on_sent=lambda: sent.append(True))
    assert (caught.value.reason, sent) == ("connection", [True])
