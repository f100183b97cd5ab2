"""Server-sent events of a conversation: each stored event once and in order, plus the tokens of the reply being
written.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from pydantic_core import to_json

from conversations.common.presenters import messages_with_receipts, read_conversation
from conversations.live.archive import read_messages
from conversations.live.client import event_entry
from conversations.live.hub import GONE, PING, REFRESH, Entry, Listener, Room, hub
from conversations.models import Conversation, Event, Turn, TurnCall, TurnStatus
from conversations.models.event import EventType
from jobs.failpoints import failpoint
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

# Keep-alive interval; random, so that streams don't ping all at once.
PING_SECONDS = (10, 15)
PAGE = 500

EVENTS = PreparedQuery(
    lambda conversation, after: Event.objects.filter(conversation_id=conversation, seq__gt=after).order_by("seq")[
        :PAGE
    ],
    kinds=(UUID, int),
)
REPLYING = PreparedValues(
    lambda turn: Turn.objects.filter(pk=turn, status=TurnStatus.REPLYING).values_list("seq"), kinds=(UUID,)
)


class Frame(NamedTuple):
    """One server-sent event. Without an event name, `data` is a raw line such as a comment."""

    event: str
    data: Any
    event_id: int | None = None

    def encode(self) -> bytes:
        """The frame in wire format."""
        if not self.event:
            return f"{self.data}\n\n".encode()
        number = f"id: {self.event_id}\n" if self.event_id is not None else ""
        return f"{number}event: {self.event}\ndata: ".encode() + to_json(self.data) + b"\n\n"


Frames = AsyncGenerator[list[Frame], None]

RETRY = Frame("", "retry: 1000")
PINGED = Frame("", ": ping")


@dataclass(frozen=True)
class StreamCursor:
    """A position in one conversation's stream: `after` is the last event the client has.

    If `is_silent`, there was no later event and no reply in progress after the subscription began, so the database
    needn't be read.
    """

    organization_id: UUID
    conversation_id: UUID
    after: int
    is_reset: bool = False
    is_silent: bool = False


class EventStream:
    """The text/event-stream of one conversation, for one client."""

    def __init__(self, cursor: StreamCursor) -> None:
        self._cursor = cursor
        self._listener = Listener()
        self._sent: tuple[str, int, int] | None = None  # turn, attempt, characters

    async def frames(self) -> Frames:
        """Frames until the client disconnects or the conversation is deleted. Frames published together are yielded
        together, because each send has a fixed cost.
        """
        async with (
            hub().subscribe(self._cursor.conversation_id) as listener,
            aclosing(self.frames_for(listener)) as frames,
        ):
            async for pieces in frames:
                yield pieces

    async def frames_for(self, listener: Listener) -> Frames:
        """Frames of a conversation that is subscribed already."""
        self._listener = listener
        hub().poll_for(
            Room(self._cursor.organization_id, self._cursor.conversation_id), listener, after=self._cursor.after
        )
        yield [RETRY]
        if self._cursor.is_reset:
            snapshot = await in_db(_snapshot, self._cursor)
            listener.after = snapshot["last_seq"]
            yield [Frame("reset", snapshot, snapshot["last_seq"])]
        if not self._cursor.is_silent:
            async for piece in self._catch_up():
                yield [piece]
        async for pieces in self._follow():
            yield pieces

    async def _follow(self) -> AsyncIterator[list[Frame]]:
        # One timer for all events: a timeout around each would cost more than passing the event on.
        pings = asyncio.get_running_loop().create_task(self._ping())
        try:
            while True:
                entries = await self._listener.next()
                if GONE in entries:
                    return
                if entries[0] is PING:
                    yield [PINGED]
                    continue
                if pieces := [piece async for piece in self._pass_on(entries)]:
                    yield pieces
        finally:
            pings.cancel()

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(random.uniform(*PING_SECONDS))  # noqa: S311  # spreads work, guards nothing
            self._listener.put([PING])

    async def _catch_up(self) -> AsyncIterator[Frame]:
        """Everything stored since, then the reply being written."""
        while backlog := await in_db(_events_after, self._cursor, self._after):
            for entry in backlog:
                failpoint("sse.mid_replay")
                if piece := self._event(entry):
                    yield piece
        if piece := await self._partial():
            yield piece

    async def _refresh(self) -> AsyncIterator[Frame]:
        """Pass on what was missed. Without anything, the stream goes on behind events that were deleted because they are old;
        otherwise it would seem behind for ever.
        """
        before = self._after
        async for missed in self._catch_up():
            yield missed
        if self._after != before:
            return
        last = await in_db(_last_event, self._cursor)
        # Read again: one may have been stored in between.
        async for missed in self._catch_up():
            yield missed
        self._listener.after = max(self._after, last)

    async def _pass_on(self, entries: list[Entry]) -> AsyncIterator[Frame]:
        for entry in entries:
            if entry is REFRESH:
                async for missed in self._refresh():
                    yield missed
            elif entry["type"] == "token":
                if piece := await self._token(entry["payload"]):
                    yield piece
            elif entry["seq"] == self._after + 1:
                if piece := self._event(entry):
                    yield piece
            elif entry["seq"] > self._after:
                async for missed in self._catch_up():
                    yield missed

    @property
    def _after(self) -> int:
        """The last event that was passed on."""
        return self._listener.after or 0

    def _event(self, entry: Entry) -> Frame | None:
        self._listener.after = entry["seq"]
        if entry["type"] == EventType.SYSTEM:
            return None
        return Frame(entry["type"], entry["payload"], entry["seq"])

    async def _token(self, token: dict[str, Any]) -> Frame | None:
        """The next token if it continues the client's text; otherwise the whole text so far."""
        turn, attempt, offset = token["turn"], token["attempt"], token["offset"]
        sent = self._sent[2] if self._sent and self._sent[:2] == (turn, attempt) else 0
        if offset > sent:
            return await self._partial()
        text = token["text"][sent - offset :]
        if not text:
            return None
        self._sent = (turn, attempt, sent + len(text))
        return Frame("token", {**token, "offset": sent, "text": text})

    async def _partial(self) -> Frame | None:
        partial = await hub().partial(self._cursor.conversation_id)
        if partial is None:
            return None
        known = (partial["turn"], partial["attempt"], len(partial["text"]))
        if known == self._sent or not await in_db(_is_replying, self._cursor, partial["turn"]):
            return None
        self._sent = known
        return Frame("token", {"turn": known[0], "attempt": known[1], "offset": 0, "text": partial["text"]})


def _events_after(cursor: StreamCursor, after: int) -> list[Entry]:
    with tenant_tx(cursor.organization_id):
        return [event_entry(event) for event in EVENTS(cursor.conversation_id, after)]


def _last_event(cursor: StreamCursor) -> int:
    with tenant_tx(cursor.organization_id):
        rows = Conversation.objects.filter(pk=cursor.conversation_id)
        return rows.values_list("last_event", flat=True).first() or 0


def _is_replying(cursor: StreamCursor, turn_id: str) -> bool:
    with tenant_tx(cursor.organization_id):
        return bool(REPLYING(UUID(turn_id)))


def _snapshot(cursor: StreamCursor) -> dict[str, Any]:
    """The whole conversation, for a client with an unknown position."""
    with tenant_tx(cursor.organization_id):
        conversation = Conversation.objects.get(pk=cursor.conversation_id)
        return {
            "conversation": read_conversation(conversation.project_id, conversation.pk),
            "messages": list(map(messages_with_receipts(conversation), read_messages(conversation))),
            "last_seq": conversation.last_event,
            "writing": writing_in(conversation),
            "over": conversation.is_over,
        }


def writing_in(conversation: Conversation) -> dict[str, Any] | None:
    """The reply in progress, for a client that connects in the middle of it; None if there is none.

    `tool` is the tool whose result is awaited; `blocks` are those shown by events up to the conversation's last one.
    """
    open_turns = Turn.objects.filter(conversation=conversation, status__in=(TurnStatus.QUEUED, TurnStatus.REPLYING))
    turn = open_turns.order_by("-seq").first()
    if turn is None:
        return None
    calls = TurnCall.objects.filter(step__turn=turn, finished_at=None).order_by("step__number", "index")
    shown_before = Event.objects.filter(
        conversation=conversation, type=EventType.BLOCK, seq__lte=conversation.last_event, payload__turn=str(turn.pk)
    )
    return {
        "turn": str(turn.pk),
        "tool": next((call.name for call in calls), ""),
        "blocks": [event.payload["block"] for event in shown_before.order_by("seq")],
    }
