"""The memory that a process gives to long bodies, which arrive before their callers are known."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from projects.common.api_error import ApiError

# More that wait for room are refused.
MAX_WAITING = 64
BUSY = "Too many files are being uploaded. Try again in a moment."


class BodyRoom:
    """The room for the bodies of one kind, `most` bytes. A body takes it as it arrives, so slow ones keep little from
    others.

    A body that finds none waits unread. The oldest never waits: otherwise bodies that have arrived in part could wait
    for each other. So there are at most `most` bytes and one body.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[BodyShare, int] = {}
        self._waiting = 0
        self._freed = asyncio.Event()

    @contextmanager
    def share(self) -> Iterator[BodyShare]:
        """The share of one body, which is free again at the end."""
        share = BodyShare(self)
        self._held[share] = 0
        try:
            yield share
        finally:
            del self._held[share]
            self._freed.set()
            self._freed = asyncio.Event()

    async def take(self, share: BodyShare, size: int) -> None:
        """Wait until there is room. Raises ApiError if too many wait already."""
        while self._is_full(size) and share is not next(iter(self._held)):
            if self._waiting >= MAX_WAITING:
                raise ApiError("busy", BUSY, status=503, headers={"Retry-After": "5"})
            self._waiting += 1
            try:
                await self._freed.wait()
            finally:
                self._waiting -= 1
        self._held[share] += size

    def _is_full(self, size: int) -> bool:
        return sum(self._held.values()) + size > self._most


class BodyShare:
    """The room that one body has taken."""

    def __init__(self, room: BodyRoom) -> None:
        self._room = room

    async def take(self, size: int, *, clock: asyncio.Timeout) -> None:
        """Take room for more bytes. The wait for it doesn't count for the clock. Raises ApiError."""
        loop = asyncio.get_running_loop()
        left = (clock.when() or 0.0) - loop.time()
        clock.reschedule(None)
        await self._room.take(self, size)
        clock.reschedule(loop.time() + left)
