"""Server-sent events of a project's inbox: hints that the list has changed, and who is writing where."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from uuid import UUID

from conversations.live.hub import Entry, Listener, hub
from conversations.live.inbox_hints import inbox_channel
from conversations.live.stream import PING_SECONDS, PINGED, Frame, Frames
from telemetry.metrics import STREAMS_OPEN

# Hints within this time become one: a single message causes several.
GATHER_SECONDS = 0.5
# A browser that can't subscribe doesn't reconnect more often; meanwhile its page polls.
RETRY = Frame("", "retry: 5000")
READY = Frame("ready", {})
# Streams of one caller in one web process. Another tab polls.
MOST_STREAMS = 8

_open: Counter[str] = Counter()


class HintListener(Listener):
    """Gathers hints; several of the same kind about the same thing are one."""

    def __init__(self) -> None:
        super().__init__()
        self._hints: dict[tuple[str, ...], Entry] = {}
        self._arrived = asyncio.Event()

    def put(self, entries: list[Entry]) -> None:
        for entry in entries:
            self._hints[entry["type"], entry.get("conversation", ""), entry.get("email", "")] = entry
        self._arrived.set()

    async def gathered(self, *, within: float) -> list[Entry]:
        """The hints since the last call. Waits for one; empty on timeout."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._arrived.wait()
        hints, self._hints = list(self._hints.values()), {}
        self._arrived.clear()
        return hints


def has_room(caller: str) -> bool:
    """True if the caller may open another stream in this process."""
    return _open[caller] < MOST_STREAMS


async def inbox_frames(project_id: UUID, *, caller: str) -> Frames:
    """Frames until the client disconnects or Redis is lost. After `ready`, no hint is missed until the stream ends."""
    name, listener = inbox_channel(project_id), HintListener()
    with _counted(caller), hub().attach(name, listener), STREAMS_OPEN.tracked():
        yield [RETRY]
        if await hub().is_confirmed(name):
            yield [READY]
        while await hub().is_confirmed(name):
            hints = await listener.gathered(within=random.uniform(*PING_SECONDS))  # noqa: S311  # spreads work, guards nothing
            yield [_frame(hint) for hint in hints] or [PINGED]
            await asyncio.sleep(GATHER_SECONDS if hints else 0)


@contextlib.contextmanager
def _counted(caller: str) -> Iterator[None]:
    _open[caller] += 1
    try:
        yield
    finally:
        _open[caller] -= 1
        if not _open[caller]:
            del _open[caller]


def _frame(hint: Entry) -> Frame:
    return Frame(hint["type"], {name: value for name, value in hint.items() if name != "type"})
