"""A conversation's server-sent events: every stored event once, in order, and the tokens of the reply being written (M11)."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.live.hub import Entry, Listener, hub
from conversations.live.publish import event_entry
from conversations.models import Conversation, Event, Message, Turn, TurnStatus
from conversations.models.event import EventType
from conversations.presenters import conversation_payload, message_payload, shown
from jobs.crash import crash_point
from projects.tenancy import tenant_tx
from projects.threads import in_db

POLL_SECONDS = 3
PING_SECONDS = 15
RETRY_MS = 1000
PAGE = 500


@dataclass(frozen=True)
class Place:
    """Which conversation is streamed, and the number of the last event that the client has."""

    organization_id: UUID
    conversation_id: UUID
    after: int
    is_reset: bool = False


class EventStream:
    """The text/event-stream of one conversation, for one client."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._after = place.after
        self._shown: tuple[str, int, int] | None = None  # turn, attempt, characters

    async def lines(self) -> AsyncIterator[bytes]:
        """Frames until the client leaves."""
        async with hub().listen(self._place.conversation_id) as listener:
            yield b"retry: %d\n\n" % RETRY_MS
            if self._place.is_reset:
                snapshot = await in_db(_snapshot, self._place)
                self._after = snapshot["last_seq"]
                yield frame("reset", snapshot, event_id=self._after)
            async for piece in self._catch_up():
                yield piece
            async for piece in self._follow(listener):
                yield piece

    async def _follow(self, listener: Listener) -> AsyncIterator[bytes]:
        quiet_since = time.monotonic()
        while True:
            entries = await listener.next(timeout=POLL_SECONDS)
            pieces = self._catch_up() if entries is None else self._pass_on(entries)
            async for piece in pieces:
                quiet_since = time.monotonic()
                yield piece
            if time.monotonic() - quiet_since > PING_SECONDS:
                quiet_since = time.monotonic()
                yield b": ping\n\n"

    async def _catch_up(self) -> AsyncIterator[bytes]:
        """Everything stored since, then the reply being written."""
        while backlog := await in_db(_events_after, self._place, self._after):
            for entry in backlog:
                crash_point("sse.mid_replay")
                if piece := self._event(entry):
                    yield piece
        if piece := await self._partial():
            yield piece

    async def _pass_on(self, entries: list[Entry]) -> AsyncIterator[bytes]:
        for entry in entries:
            if entry["type"] == "token":
                if piece := await self._token(entry["payload"]):
                    yield piece
            elif entry["seq"] == self._after + 1:
                if piece := self._event(entry):
                    yield piece
            elif entry["seq"] > self._after:
                async for piece in self._catch_up():
                    yield piece

    def _event(self, entry: Entry) -> bytes | None:
        self._after = entry["seq"]
        if entry["type"] == EventType.SYSTEM:
            return None
        return frame(entry["type"], entry["payload"], event_id=entry["seq"])

    async def _token(self, token: dict[str, Any]) -> bytes | None:
        """A token that goes on where the client stands; anything else is mended from the text so far."""
        turn, attempt, offset = token["turn"], token["attempt"], token["offset"]
        standing = self._shown[2] if self._shown and self._shown[:2] == (turn, attempt) else 0
        if offset > standing:
            return await self._partial()
        text = token["text"][standing - offset :]
        if not text:
            return None
        self._shown = (turn, attempt, standing + len(text))
        return frame("token", {**token, "offset": standing, "text": text})

    async def _partial(self) -> bytes | None:
        partial = await hub().partial(self._place.conversation_id)
        if partial is None or not await in_db(_is_replying, self._place, partial["turn"]):
            return None
        known = (partial["turn"], partial["attempt"], len(partial["text"]))
        if known == self._shown:
            return None
        self._shown = known
        return frame("token", {"turn": known[0], "attempt": known[1], "offset": 0, "text": partial["text"]})


def frame(event: str, data: Any, *, event_id: int | None = None) -> bytes:
    """One server-sent event."""
    number = f"id: {event_id}\n" if event_id is not None else ""
    return f"{number}event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _events_after(place: Place, after: int) -> list[Entry]:
    with tenant_tx(place.organization_id):
        events = Event.objects.filter(conversation_id=place.conversation_id, seq__gt=after).order_by("seq")[:PAGE]
        return [event_entry(event) for event in events]


def _is_replying(place: Place, turn_id: str) -> bool:
    with tenant_tx(place.organization_id):
        return Turn.objects.filter(pk=turn_id, status=TurnStatus.REPLYING).exists()


def _snapshot(place: Place) -> dict[str, Any]:
    """The whole conversation, for a client whose place is not known."""
    with tenant_tx(place.organization_id):
        conversation = shown(Conversation.objects.filter(pk=place.conversation_id)).get()
        messages = Message.objects.filter(conversation=conversation).order_by("seq")
        return {
            "conversation": conversation_payload(conversation),
            "messages": [message_payload(message) for message in messages],
            "last_seq": conversation.last_event,
        }
