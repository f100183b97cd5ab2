"""Redis: the names of what the live stream keeps there, and an event loop's connections to it."""

from __future__ import annotations

from typing import cast
from uuid import UUID

import redis.asyncio as aioredis
from django.conf import settings
from redis.asyncio.connection import AbstractConnection

PARTIAL_SECONDS = 180
# Commands are short: these few carry those of hundreds of replies.
CONNECTIONS = 20
CONNECT_SECONDS = 1
WAIT_SECONDS = 2


def new_client() -> aioredis.Redis:
    """A client whose commands wait for a connection that is free; the library's own refuses the hundred-and-first of a moment.

    Where none is free in time it raises redis.ConnectionError, as where Redis is away; TimeoutError of the same library where a
    command isn't answered.
    """
    return aioredis.Redis.from_pool(
        aioredis.BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=CONNECTIONS,
            timeout=WAIT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=WAIT_SECONDS,
        )
    )


def new_connection() -> AbstractConnection:
    """One connection, not connected yet, for who subscribes: what it tells is waited for as long as it takes.

    Below the library's own subscriber, which connects again by itself: who speaks and who listens would both do so, at once. In
    the protocol's later version messages would be mixed with answers. Without a time limit for a write a cancellation
    isn't dropped, as the library does before Python 3.12.
    """
    pool: aioredis.ConnectionPool = aioredis.ConnectionPool.from_url(
        settings.REDIS_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=None, protocol=2
    )
    return cast(AbstractConnection, pool.make_connection())  # type: ignore[no-untyped-call]


def channel_of(conversation_id: UUID | str) -> str:
    """The pub/sub channel of one conversation, or of what is yet to begin for one customer."""
    return f"makegood:live:{conversation_id}"


def partial_of(conversation_id: UUID | str) -> str:
    """What the reply being written says so far."""
    return f"makegood:partial:{conversation_id}"
