"""Redis clients and key names of the live stream."""

from __future__ import annotations

from typing import cast
from uuid import UUID

import redis.asyncio as aioredis
from django.conf import settings
from redis.asyncio.connection import AbstractConnection

PARTIAL_SECONDS = 180
# Commands are short, so a few connections serve hundreds of replies.
CONNECTIONS = 20
CONNECT_SECONDS = 1
WAIT_SECONDS = 2


def new_client() -> aioredis.Redis:
    """A client whose commands wait for a free connection instead of failing at the pool's limit.

    Raises redis.ConnectionError if no connection becomes free in time or Redis is unreachable, redis.TimeoutError if a
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
    """An unconnected connection for a subscriber, without a read timeout.

    It bypasses redis-py's PubSub, which reconnects by itself: the sending and the listening task would both do so at
    once. Protocol 2 keeps messages and command replies apart. Without a write timeout a cancellation isn't lost, which
    happens in redis-py before Python 3.12.
    """
    pool: aioredis.ConnectionPool = aioredis.ConnectionPool.from_url(
        settings.REDIS_URL, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=None, protocol=2
    )
    return cast(AbstractConnection, pool.make_connection())  # type: ignore[no-untyped-call]


def channel_of(conversation_id: UUID | str) -> str:
    """The pub/sub channel of a conversation, or of a customer's page that waits for a conversation to start."""
    return f"makegood:live:{conversation_id}"


def partial_of(conversation_id: UUID | str) -> str:
    """The key of the text of the reply being written."""
    return f"makegood:partial:{conversation_id}"
