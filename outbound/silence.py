"""Socket options that end a connection whose host has fallen silent, such as behind a pulled cable.

Without them the kernel sends on for a quarter of an hour, and a connection that only waits is never looked at. A slow
server is not silent: its kernel acknowledges what it receives, and answers probes.
"""

from __future__ import annotations

import socket

# Below the deadlines of requests, so that a lost wire and a slow server are told apart.
SILENT_SECONDS = 8
IDLE_SECONDS = 5
PROBE_SECONDS = 2

_ASKED = (
    ("SOL_SOCKET", "SO_KEEPALIVE", 1),
    # Idle connections are probed after this time, then at this interval.
    ("IPPROTO_TCP", "TCP_KEEPIDLE", IDLE_SECONDS),
    ("IPPROTO_TCP", "TCP_KEEPINTVL", PROBE_SECONDS),
    ("IPPROTO_TCP", "TCP_KEEPCNT", (SILENT_SECONDS - IDLE_SECONDS) // PROBE_SECONDS + 1),
    # In milliseconds, for data that the host doesn't acknowledge. Linux only.
    ("IPPROTO_TCP", "TCP_USER_TIMEOUT", SILENT_SECONDS * 1000),
)
SOCKET_OPTIONS: tuple[tuple[int, int, int], ...] = tuple(
    (getattr(socket, level), getattr(socket, name), value) for level, name, value in _ASKED if hasattr(socket, name)
)


def end_when_silent(sock: socket.socket) -> None:
    """Set the options on a TCP socket."""
    for level, name, value in SOCKET_OPTIONS:
        sock.setsockopt(level, name, value)
