"""One Redis subscription per web process, handed out to every open stream."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import redis.asyncio as aioredis
from django.conf import settings
from redis import RedisError

from conversations.live.keys import channel_of, partial_of

log = logging.getLogger(__name__)

Entry = dict[str, Any]
# A stream that doesn't keep up loses entries, notices the gap, and reads the database.
BACKLOG = 1000
RETRY_SECONDS = 0.5


class Listener:
    """What one stream hears."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[list[Entry]] = asyncio.Queue(BACKLOG)

    async def next(self, *, timeout: float) -> list[Entry] | None:
        """The next entries, or None when nothing was heard for `timeout` seconds."""
        # Not `wait_for`: before Python 3.12 it may drop a cancellation, and the stream of a client that left would go on.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                return await self._queue.get()
        return None

    def hear(self, entries: list[Entry]) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            self._queue.put_nowait(entries)


class Hub:
    """The subscriptions of one event loop."""

    def __init__(self) -> None:
        # No health checks: a check reads, and a subscription's connection has a reader already.
        self._redis = aioredis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, health_check_interval=0)
        self._channel = self._redis.pubsub()
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._confirmed: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._reader: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def listen(self, conversation_id: UUID) -> AsyncIterator[Listener]:
        """Hear a conversation. Read the database after entering: nothing is missed between the two."""
        name, listener = channel_of(conversation_id), Listener()
        self._listeners[name].add(listener)
        try:
            await self._subscribe(name)
            yield listener
        finally:
            self._listeners[name].discard(listener)
            if not self._listeners[name]:
                await self._unsubscribe(name)

    async def partial(self, conversation_id: UUID) -> Entry | None:
        """What the reply being written says so far, if Redis knows."""
        try:
            found = await self._redis.get(partial_of(conversation_id))
        except (RedisError, OSError):
            return None
        return json.loads(found) if found else None

    async def _subscribe(self, name: str) -> None:
        """Subscribe and wait for the confirmation. While Redis is away the stream polls, and hears again later."""
        if self._confirmed[name].is_set():
            return
        with contextlib.suppress(RedisError, OSError, TimeoutError):
            await self._channel.subscribe(name)
            self._start_reader()
            async with asyncio.timeout(1):
                await self._confirmed[name].wait()

    async def _unsubscribe(self, name: str) -> None:
        del self._listeners[name]
        self._confirmed.pop(name, None)
        with contextlib.suppress(RedisError, OSError):
            await self._channel.unsubscribe(name)

    def _start_reader(self) -> None:
        if self._reader is None or self._reader.done():
            self._reader = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        while True:
            try:
                message = await self._channel.get_message(timeout=None)
            except (RedisError, OSError) as error:
                log.warning("The live stream lost Redis (%s); streams poll meanwhile.", type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if message is not None:
                self._deliver(message)

    def _deliver(self, message: dict[str, Any]) -> None:
        if message["type"] not in {"subscribe", "message"}:
            return
        name = message["channel"].decode()
        if message["type"] == "subscribe":
            self._confirmed[name].set()
        else:
            entries = json.loads(message["data"])
            for listener in self._listeners.get(name, ()):
                listener.hear(entries)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running loop."""
    loop = asyncio.get_running_loop()
    found = _hubs.get(loop)
    if found is None:
        found = _hubs[loop] = Hub()
    return found
