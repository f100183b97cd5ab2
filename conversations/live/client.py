"""Redis clients and key names of the live stream."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, cast
from uuid import UUID

import redis
import redis.asyncio as aioredis
from django.conf import settings
from pydantic_core import to_json
from redis.asyncio.connection import AbstractConnection

from conversations.models import Event
from projects.common.redis_publish import publish

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
            **settings.REDIS_SOCKET,
        )
    )


def new_connection() -> AbstractConnection:
    """An unconnected connection for a subscriber, without a read timeout.

    It bypasses redis-py's PubSub, which reconnects by itself: the sending and the listening task would both do so at
    once. Protocol 2 keeps messages and command replies apart. Without a write timeout a cancellation isn't lost, which
    happens in redis-py before Python 3.12.
    """
    pool: aioredis.ConnectionPool = aioredis.ConnectionPool.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=None,
        protocol=2,
        **settings.REDIS_SOCKET,
    )
    return cast(AbstractConnection, pool.make_connection())  # type: ignore[no-untyped-call]


def channel_of(conversation_id: UUID | str) -> str:
    """The pub/sub channel of a conversation, or of a customer's page that waits for a conversation to start."""
    return f"makegood:live:{conversation_id}"


def partial_of(conversation_id: UUID | str) -> str:
    """The key of the text of the reply being written."""
    return f"makegood:partial:{conversation_id}"


log = logging.getLogger(__name__)


def publish_events(conversation_id: UUID, events: Sequence[Event]) -> None:
    """Publish stored events with their numbers, so that a stream can detect gaps."""
    if events:
        _publish(conversation_id, [event_entry(event) for event in events])


def publish_deletion(rooms: Iterable[UUID]) -> None:
    """End the open streams of deleted conversations and customers, and forget the text of replies in progress."""
    for room in rooms:
        _publish(room, [{"type": "gone"}])
        try:
            publish("DEL", partial_of(room))
        except (redis.RedisError, OSError) as error:
            log.warning("A partial reply stays in Redis until it expires (%s).", type(error).__name__)


def publish_beginning(persona_id: UUID) -> None:
    """Notify a customer's open portal pages that their chat has started."""
    _publish(persona_id, [{"type": "begun"}])


def _publish(room: UUID, entries: Sequence[dict[str, Any]]) -> None:
    try:
        publish("PUBLISH", channel_of(room), to_json(entries))
    except (redis.RedisError, OSError) as error:
        log.warning("Publishing to the live stream failed (%s); streams will poll.", type(error).__name__)


def event_entry(event: Event) -> dict[str, Any]:
    """An event as a stream entry."""
    return {"seq": event.seq, "type": event.type, "payload": event.payload}
