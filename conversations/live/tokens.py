"""Streaming of a reply's tokens: the first at once, later ones in batches."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from uuid import UUID
from weakref import WeakKeyDictionary

import redis.asyncio as aioredis
from pydantic_core import to_json
from redis import RedisError
from redis import TimeoutError as RedisTimeout

from conversations.live.client import PARTIAL_SECONDS, channel_of, new_client, partial_of
from projects.common.redis_pause import redis_pause

log = logging.getLogger(__name__)

# Thirty updates a second look continuous, at a tenth of the cost of one per token.
GATHER_SECONDS = 0.033


class TokenWriter:
    """Streams the text of one reply. `write` is called on the event loop for each piece and never blocks."""

    def __init__(self, *, conversation_id: UUID, turn_id: UUID, attempt: int) -> None:
        self._conversation_id = conversation_id
        self._turn_id = turn_id
        self._attempt = attempt
        self._pieces: list[str] = []
        self._sent = 0
        self._more = asyncio.Event()
        self._closed = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._flush_until_closed())

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def write(self, piece: str) -> None:
        self._pieces.append(piece)
        self._more.set()

    async def close(self) -> None:
        """Send the rest. Nothing is canceled: an interrupted command would spoil its connection."""
        self._closed.set()
        self._more.set()
        await asyncio.wait({self._task})
        await self._flush()

    async def _flush_until_closed(self) -> None:
        while not self._closed.is_set():
            await self._more.wait()
            self._more.clear()
            await self._flush()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GATHER_SECONDS):
                    await self._closed.wait()

    async def _flush(self) -> None:
        text = self.text
        if len(text) == self._sent:
            return
        position = {"turn": str(self._turn_id), "attempt": self._attempt}
        token = to_json([{"type": "token", "payload": {**position, "offset": self._sent, "text": text[self._sent :]}}])
        self._sent = len(text)
        try:
            redis_pause.check()
            async with _redis().pipeline(transaction=False) as pipe:
                pipe.set(partial_of(self._conversation_id), to_json({**position, "text": text}), ex=PARTIAL_SECONDS)
                pipe.publish(channel_of(self._conversation_id), token)
                await pipe.execute()
        except (RedisError, OSError) as error:
            if isinstance(error, RedisTimeout):
                redis_pause.begin()
            log.warning("Streaming tokens failed (%s); the finished reply will be sent.", type(error).__name__)


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, aioredis.Redis] = WeakKeyDictionary()


def _redis() -> aioredis.Redis:
    """The client of the running loop, to which its connections belong."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = new_client()
    return client
