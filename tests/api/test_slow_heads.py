"""Request heads have to arrive in time (config.http_protocol)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from config import http_protocol
from config.http_protocol import TimedProtocol
from tests.api.live import Address, serve

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATIENCE = 20


async def hello(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    with serve(hello, http=TimedProtocol) as found:
        yield found


def opened(address: Address, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(address, timeout=PATIENCE)
    connection.sendall(sent)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Wait for the end of the connection. A timeout raises."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD[:-2]], ids=["nothing", "half a line", "no last line"])
def test_a_half_sent_head_is_closed(address: Address, sent: bytes) -> None:
    with opened(address, sent) as connection:
        assert is_closed(connection)


def test_many_half_sent_heads_are_closed(address: Address) -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(opened(address, b"GET / HTTP/1.1\r\nX: ")) for _ in range(100)]
        assert all(is_closed(connection) for connection in connections)


def test_bytes_do_not_extend_the_time(address: Address) -> None:
    with opened(address, b"GET / HTTP/1.1\r\nX: ") as connection:
        connection.settimeout(0.05)
        for _ in range(PATIENCE * 20):
            try:
                connection.sendall(b"x")
                assert connection.recv(1) == b""
                return
            except TimeoutError:
                continue
            except OSError:
                return
    raise AssertionError("the connection stayed open")


@pytest.mark.parametrize("sent", [HEAD[:-2], b"\r\n"], ids=["half a head", "a blank line"])
def test_the_second_request_of_a_connection_has_the_same_time(address: Address, sent: bytes) -> None:
    with opened(address, HEAD) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.sendall(sent)
        assert is_closed(connection)


def test_a_complete_head_is_answered(address: Address) -> None:
    with opened(address, HEAD[:20]) as connection:
        connection.sendall(HEAD[20:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
