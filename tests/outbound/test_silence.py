"""Connections notice a host that has fallen silent. tests/wires cuts real wires."""

from __future__ import annotations

import asyncio
import socket

import pytest

from llm.sdk import _new_socket
from outbound.guard import Guard
from outbound.silence import IDLE_SECONDS, SILENT_SECONDS
from outbound.transport import SendState, _GuardedBackend

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="an option of Linux")


def limits_of(wire: socket.socket) -> tuple[bool, int, int]:
    """The keepalive flag, the idle seconds before the first probe, and the milliseconds of silence that end it."""
    is_probed = bool(wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
    idle = wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
    return is_probed, idle, wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)


NOTICED = (True, IDLE_SECONDS, SILENT_SECONDS * 1000)


async def test_connections_to_a_tenant_s_server_end_when_it_is_silent() -> None:
    guard = Guard(["127.0.0.1"])
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        stream = await _GuardedBackend(guard.resolve, SendState()).connect_tcp("127.0.0.1", port)
        assert limits_of(stream.get_extra_info("socket")) == NOTICED
        await stream.aclose()


def test_connections_to_the_operator_s_model_end_when_it_is_silent() -> None:
    with _new_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 9))) as made:
        assert limits_of(made) == NOTICED
