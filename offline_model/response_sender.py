"""Sends a response to one client and detects a disconnect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from offline_model.responses import Ending, Response

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):
    """The client closed the connection before the answer was complete."""


class ResponseSender:
    """Sender of one response; calls `on_first_byte` after the first block."""

    def __init__(self, *, receive: Receive, send: Send, on_first_byte: Callable[[], None]) -> None:
        self._receive = receive
        self._send = send
        self._on_first_byte = on_first_byte
        self._watch: asyncio.Task[Message] | None = None

    async def play(self, response: Response) -> None:
        """Send the blocks on schedule; raises ClientGone."""
        try:
            await self._pause(response.first_s)
            if response.blocks or response.ending is not Ending.SILENCE:
                await self._open(response)
            await self._send_blocks(response)
            await self._end(response)
        finally:
            if self._watch is not None:
                self._watch.cancel()

    async def _open(self, response: Response) -> None:
        headers = [(b"content-type", response.content_type), *response.headers]
        if response.length is not None:
            headers.append((b"content-length", b"%d" % response.length))
        await self._send({"type": "http.response.start", "status": response.status, "headers": headers})

    async def _send_blocks(self, response: Response) -> None:
        """Send due blocks together, so that a late timer doesn't delay the response."""
        started, sent, count = time.monotonic(), 0, len(response.blocks)
        while sent < count:
            if sent:
                await self._pause(started + response.gap_s * sent - time.monotonic())
            passed = time.monotonic() - started
            due = count if response.gap_s <= 0 else min(count, max(sent + 1, 1 + int(passed / response.gap_s)))
            is_last = due == count and response.ending is Ending.COMPLETE
            body = b"".join(response.blocks[sent:due])
            await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})
            if not sent:
                self._on_first_byte()
            sent = due

    async def _end(self, response: Response) -> None:
        if response.ending is Ending.SILENCE:
            await self._pause(None)
        elif response.ending is Ending.COMPLETE and not response.blocks:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pause(self, seconds: float | None) -> None:
        """Wait; None means until the client goes away."""
        if seconds is not None and seconds <= 0:
            return
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._receive())
        done, _ = await asyncio.wait((self._watch,), timeout=seconds)
        if done:
            raise ClientGone
