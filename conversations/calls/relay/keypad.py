"""Keys that the caller presses: one message for all keys until # or a pause."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
KEYS = frozenset("0123456789*#ABCD")
END = "#"
MOST = 64


class Keypad:
    """Collects keys, and calls `on_keys` with them."""

    def __init__(self, on_keys: Callable[[str], Awaitable[None]], *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._on_keys = on_keys
        self._pause_seconds = pause_seconds
        self._keys = ""
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def press(self, key: str) -> None:
        """The caller pressed one key."""
        if key not in KEYS:
            return
        self._stop_timer()
        if key != END:
            self._keys += key
        if key == END or len(self._keys) >= MOST:
            self._send()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._pause_seconds, self._send)

    def close(self) -> None:
        """Forget the keys, and stop what is under way."""
        self._stop_timer()
        for task in self._tasks:
            task.cancel()

    def _send(self) -> None:
        keys, self._keys, self._timer = self._keys, "", None
        if keys:
            task = asyncio.get_running_loop().create_task(self._report(keys))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _report(self, keys: str) -> None:
        try:
            await self._on_keys(keys)
        except Exception:  # the edge of a task of its own: the call goes on without these keys
            log.exception("The keys that a caller pressed were lost.")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
