"""The session of a relayed call: what Twilio hears becomes messages, and what the agent writes is spoken.

One process holds the caller's WebSocket and, as long as it does, the call's job. Each piece of work with the database is
a short transaction; between them the call costs a connection to Twilio and a subscription to its conversation.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from conversations.calls.relay import store
from conversations.calls.relay.keypad import Keypad
from conversations.calls.relay.speech import Speech
from conversations.calls.relay.store import HeldCall, Stop
from conversations.calls.relay.twiml import locale_of
from conversations.live.hub import Room, hub
from conversations.live.stream import EventStream, Frame, StreamCursor
from conversations.models import CallState, Conversation
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost
from jobs.holding import give_back, keep_lease
from projects.common.api_error import Conflict
from tenancy.threads import in_db

log = logging.getLogger(__name__)

Json = dict[str, Any]
# How long the agent's last words may take after the call's end was decided.
LAST_WORDS_SECONDS = 30.0
LOOK_SECONDS = 0.05
# Twilio closes the connection when it has read our end.
CLOSE_SECONDS = 5.0


class Hangup(Exception):
    """The WebSocket was closed."""


class RelaySession:
    """One connection of a caller. `receive` returns Twilio's next message or raises Hangup; `send` sends one."""

    def __init__(
        self, held: HeldCall, *, receive: Callable[[], Awaitable[Json]], send: Callable[[Json], Awaitable[None]]
    ) -> None:
        self._held = held
        self._receive = receive
        self._send = send
        self._speech = Speech()
        self._keypad = Keypad(self._on_keys)
        self._language = locale_of(held.language)
        # The number of the last event that was spoken.
        self._spoken = held.after

    async def run(self) -> None:
        """Serve the call until it is over, the caller's connection is gone, or another process holds the call."""
        failpoint("relay.taken")
        reading, ending = asyncio.create_task(self._read()), asyncio.create_task(self._watch())
        tasks = {reading, ending, asyncio.create_task(self._speak()), asyncio.create_task(self._keep())}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            await self._end(ending.result(), reading)
        except Hangup:
            # Twilio says in a webhook whether the caller hung up or the connection broke.
            await give_back(self._held.job)
        except (LeaseLost, Conversation.DoesNotExist):
            log.info("The call %s is held elsewhere, or was erased.", self._held.call.call_id)
        finally:
            self._keypad.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self) -> None:
        await keep_lease(self._held.job)

    # What Twilio hears

    async def _read(self) -> None:
        while True:
            message = await self._receive()
            if (handler := _HANDLERS.get(str(message.get("type")))) is not None:
                await handler(self, message)

    async def _on_prompt(self, message: Json) -> None:
        """The caller said something. Twilio sends the whole sentence in the last message about it."""
        text = str(message.get("voicePrompt") or "").replace("\0", "").strip()
        if text and message.get("last", True):
            await self._hear(text)

    async def _hear(self, text: str) -> None:
        await self._settle()
        failpoint("relay.heard")
        try:
            apology = await in_db(store.hear, self._held, text)
        except Conflict as refusal:
            log.info("The call %s takes no words: %s", self._held.call.call_id, refusal)
            return
        failpoint("relay.stored")
        if apology:
            await self._send({"type": "text", "token": apology, "last": True})

    async def _settle(self) -> None:
        """The caller speaks. What was said before was heard, except for a reply that is still being written."""
        if turns := self._speech.take_heard():
            await in_db(store.note_heard, self._held, turns)
        if self._speech.passages:
            await self._cut(self._speech.played)

    async def _on_interrupt(self, message: Json) -> None:
        await self._cut(str(message.get("utteranceUntilInterrupt") or ""))

    async def _cut(self, utterance: str) -> None:
        if cuts := self._speech.interrupt(utterance):
            await in_db(store.cut_speech, self._held, cuts)
            failpoint("relay.cut")

    async def _on_dtmf(self, message: Json) -> None:
        self._keypad.press(str(message.get("digit") or ""))

    async def _on_keys(self, keys: str) -> None:
        """The caller pressed keys, and no more of them follow."""
        await in_db(store.note_keys, self._held, keys)
        await self._hear(keys)

    async def _on_info(self, message: Json) -> None:
        has_ended = self._speech.on_info(str(message.get("name")), str(message.get("value") or ""))
        if has_ended and (turns := self._speech.take_heard()):
            await in_db(store.note_heard, self._held, turns)

    async def _on_error(self, message: Json) -> None:
        log.warning(
            "Twilio refused a message of the call %s: %s",
            self._held.call.call_id,
            str(message.get("description"))[:300],
        )

    # What the agent says

    async def _speak(self) -> None:
        """Read the conversation's stream to the caller."""
        call = self._held.call
        cursor = StreamCursor(call.organization_id, call.conversation_id, self._held.after)
        async with aclosing(EventStream(cursor).frames()) as stream:
            async for frames in stream:
                for frame in frames:
                    await self._on_frame(frame)

    async def _on_frame(self, frame: Frame) -> None:
        """Speak what an event says."""
        if frame.event == "token":
            await self._send_all(self._speech.on_token(frame.data))
        elif frame.event == "message":
            await self._send_all(self._speech.on_message(frame.data))
        elif frame.event == "done":
            await self._choose_language()
        self._spoken = frame.event_id or self._spoken

    async def _send_all(self, messages: list[Json]) -> None:
        for message in messages:
            await self._send(message)

    async def _choose_language(self) -> None:
        """Change the language of both voices once the caller's is known to be another one."""
        locale = locale_of(await in_db(store.read_language, self._held))
        if locale != self._language:
            self._language = locale
            await self._send({"type": "language", "ttsLanguage": locale, "transcriptionLanguage": locale})

    # The end

    async def _watch(self) -> Stop:
        """Wait until the voice must stop."""
        call = self._held.call
        async with hub().listen(Room(call.organization_id, call.conversation_id), after=0) as listener:
            while True:
                position, stop = await in_db(store.read_stop, self._held)
                if stop is not None:
                    return stop
                listener.after = position
                while all(entry["type"] == "token" for entry in await listener.next()):
                    """Words of a reply end no call."""

    async def _end(self, stop: Stop, reading: asyncio.Task[None]) -> None:
        """Wait for the last words, and have Twilio end the session or transfer the call."""
        await self._last_words(stop, reading)
        state = CallState.TRANSFERRED if stop.number else CallState.ENDED
        failpoint("relay.ending")
        await in_db(store.finish, self._held.call, self._held.job, state, number=stop.number)
        failpoint("relay.ended")
        with suppress(Hangup):
            await self._send({"type": "end", "handoffData": json.dumps({"reasonCode": stop.code})})
            await asyncio.wait({reading}, timeout=CLOSE_SECONDS)

    async def _last_words(self, stop: Stop, reading: asyncio.Task[None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                while not reading.done() and (self._spoken < stop.last_message or self._speech.is_speaking):
                    await asyncio.sleep(LOOK_SECONDS)


_HANDLERS: Mapping[str, Callable[[RelaySession, Json], Awaitable[None]]] = {
    "prompt": RelaySession._on_prompt,
    "interrupt": RelaySession._on_interrupt,
    "dtmf": RelaySession._on_dtmf,
    "info": RelaySession._on_info,
    "error": RelaySession._on_error,
}
