"""One Redis subscriber and one database poller per web process, shared by all open streams."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.db import DatabaseError
from django.db.models import Count, Exists, OuterRef
from pydantic_core import from_json
from redis import RedisError

from conversations.live.client import channel_of, new_client, partial_of
from conversations.live.subscriptions import Subscriptions
from conversations.models import Channel, Conversation, Turn, TurnStatus
from telemetry.metrics import STREAMS_OPEN
from tenancy.scope import tenant_tx
from tenancy.threads import in_db


@dataclass(frozen=True)
class StreamPosition:
    """The number of a conversation's last event, and whether a reply is being written."""

    last_event: int
    is_replying: bool


def load_stream_positions(organization_id: UUID, conversation_ids: Collection[UUID]) -> dict[UUID, StreamPosition]:
    """The positions of a tenant's conversations, in one statement."""
    with tenant_tx(organization_id):
        replying = Turn.objects.filter(conversation=OuterRef("pk"), status=TurnStatus.REPLYING)
        rows = Conversation.objects.filter(pk__in=conversation_ids).annotate(is_replying=Exists(replying))
        found = rows.values_list("pk", "last_event", "is_replying")
        return {pk: StreamPosition(last_event, is_replying) for pk, last_event, is_replying in found}


def beginnings(organization_id: UUID, persona_ids: Collection[UUID]) -> dict[UUID, StreamPosition]:
    """For each customer, the number of portal conversations as the position of their page, in one statement."""
    with tenant_tx(organization_id):
        rows = Conversation.objects.filter(persona_id__in=persona_ids, channel=Channel.PORTAL).order_by()
        begun = rows.values_list("persona_id").annotate(begun=Count("pk"))
        return {persona_id: StreamPosition(count, is_replying=False) for persona_id, count in begun}


log = logging.getLogger(__name__)

Entry = dict[str, Any]
# A slow stream drops entries, notices the gap and reads the database.
BACKLOG = 1000
# How long a new stream waits for Redis to confirm its subscription.
SUBSCRIBE_SECONDS = 1
# Interval of the database poll for events that Redis did not deliver.
POLL_SECONDS = 3
# Entry without an event: the stream should read the database.
REFRESH: Entry = {"type": "refresh"}
# Entry without an event: the stream should send a keep-alive.
PING: Entry = {"type": "ping"}
# Entry without an event: the conversation was deleted, and its streams end. Redis delivers it, or the database poll.
GONE: Entry = {"type": "gone"}


@dataclass(frozen=True)
class Room:
    """A conversation with listeners. If `is_awaited`, the customer's page waits for its next conversation, and the id
    is the persona's.
    """

    organization_id: UUID
    conversation_id: UUID
    is_awaited: bool = False


class Listener:
    """The queue of one stream. `after` is the last event it has passed on, or None if the stream does its own polling.

    If `is_confirmed`, Redis has confirmed the subscription: everything published since is received while Redis is up.
    """

    def __init__(self) -> None:
        self.after: int | None = None
        self.is_confirmed = False
        self._queue: asyncio.Queue[list[Entry]] = asyncio.Queue(BACKLOG)

    async def next(self) -> list[Entry]:
        """Wait for the next entries."""
        return await self._queue.get()

    async def next_within(self, seconds: float) -> list[Entry] | None:
        """Wait for the next entries; None on timeout."""
        # Not `wait_for`: before Python 3.12 it may drop a cancellation, and the stream would outlive its client.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        return None

    def put(self, entries: list[Entry]) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            self._queue.put_nowait(entries)

    def is_behind(self, position: StreamPosition) -> bool:
        return self.after is not None and (position.last_event > self.after or position.is_replying)


class Hub:
    """The subscriptions of one event loop."""

    def __init__(self) -> None:
        self._redis = new_client()
        self._subscriptions = Subscriptions(self._deliver)
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._rooms: dict[str, Room] = {}
        self._poller: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def listen(self, room: Room, *, after: int | None = None) -> AsyncIterator[Listener]:
        """Subscribe to a conversation. Read the database after entering, so that nothing is missed in between."""
        async with self.subscribe(room.conversation_id) as listener:
            self.poll_for(room, listener, after=after)
            yield listener

    @contextlib.asynccontextmanager
    async def subscribe(self, conversation_id: UUID) -> AsyncIterator[Listener]:
        """Subscribe before the caller's access is checked. The caller must check it, then call `poll_for`."""
        name, listener = channel_of(conversation_id), Listener()
        with self.attach(name, listener), STREAMS_OPEN.tracked():
            # While Redis is down the stream relies on polling; the subscription is confirmed later.
            listener.is_confirmed = await self.is_confirmed(name)
            yield listener

    async def is_confirmed(self, name: str) -> bool:
        """Return True once Redis has confirmed the subscription to an attached channel; False if it takes too long."""
        return await self._subscriptions.is_confirmed(name, within=SUBSCRIBE_SECONDS)

    @contextlib.contextmanager
    def attach(self, name: str, listener: Listener) -> Iterator[None]:
        """Put what a channel delivers into the listener."""
        self._listeners[name].add(listener)
        self._subscriptions.subscribe(name)
        try:
            yield
        finally:
            self._listeners[name].discard(listener)
            if not self._listeners[name]:
                del self._listeners[name]
                self._rooms.pop(name, None)
                self._subscriptions.unsubscribe(name)

    def poll_for(self, room: Room, listener: Listener, *, after: int | None) -> None:
        """Include the conversation in the database poll from now on."""
        listener.after = after
        self._rooms[channel_of(room.conversation_id)] = room
        self._start_polling()

    async def partial(self, conversation_id: UUID) -> Entry | None:
        """The text so far of the reply being written, if Redis has it."""
        try:
            found = await self._redis.get(partial_of(conversation_id))
        except (RedisError, OSError):
            return None
        return from_json(found) if found else None

    def _start_polling(self) -> None:
        if self._poller is None or self._poller.done():
            self._poller = asyncio.get_running_loop().create_task(self._poll())

    async def _poll(self) -> None:
        """Poll the database for missed events while there are streams.

        One statement per tenant, one tenant after the other. If hundreds of streams polled by themselves, their
        transactions would come at once and delay the tokens.
        """
        while self._rooms:
            await asyncio.sleep(POLL_SECONDS)
            for organization_id, rooms in self._by_tenant().items():
                try:
                    if ids := [room.conversation_id for room in rooms if not room.is_awaited]:
                        found = await in_db(load_stream_positions, organization_id, ids)
                        self._wake(found)
                        self._end(set(ids) - found.keys())
                    if ids := [room.conversation_id for room in rooms if room.is_awaited]:
                        self._wake(await in_db(beginnings, organization_id, ids))
                except (DatabaseError, OSError) as error:
                    log.warning("Polling for live events failed (%s); retrying.", type(error).__name__)
                except Exception:  # one failed poll must not stop the next
                    log.exception("Polling for live events failed; retrying.")

    def _by_tenant(self) -> dict[UUID, list[Room]]:
        tenants: dict[UUID, list[Room]] = defaultdict(list)
        for room in self._rooms.values():
            tenants[room.organization_id].append(room)
        return tenants

    def _wake(self, found: dict[UUID, StreamPosition]) -> None:
        """Wake the listeners that are behind."""
        for conversation_id, position in found.items():
            for listener in self._listeners.get(channel_of(conversation_id), ()):
                if listener.is_behind(position):
                    listener.put([REFRESH])

    def _end(self, deleted: Collection[UUID]) -> None:
        """End the streams of deleted conversations."""
        for conversation_id in deleted:
            for listener in self._listeners.get(channel_of(conversation_id), ()):
                listener.put([GONE])

    def _deliver(self, name: str, data: bytes) -> None:
        entries = from_json(data)
        for listener in self._listeners.get(name, ()):
            listener.put(entries)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _hubs.get(loop)
    if found is None:
        found = _hubs[loop] = Hub()
    return found
