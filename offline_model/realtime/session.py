"""One call and its session, which outlives a control connection as the provider's does."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from aiohttp import web

from offline_model.realtime.agent import Dialog
from offline_model.realtime.media import Peer

GREETING, DEFAULT = "Hello, how can I help you?", "All right. Anything else?"
OVER = ("rejected", "referred", "ended")
Json = dict[str, Any]


def usage_of(step: Json) -> Json:
    """The tokens of an answer: a token for each letter that is spoken, and a hundred of each kind for what was heard."""
    spoken = len(step.get("say", ""))
    return {
        "input_tokens": 200,
        "output_tokens": spoken + 10,
        "total_tokens": spoken + 210,
        "input_token_details": {"audio_tokens": 100, "text_tokens": 100, "cached_tokens": 50},
        "output_token_details": {"audio_tokens": spoken, "text_tokens": 10},
    }


@dataclass
class Session:
    """A call. `state` is pending, live, rejected, referred or ended. `script` holds the model's next answers.

    A step is `{"say": text}`, `{"call": name, "arguments": {…}}` or both; `"interrupted_ms"` cuts what was said,
    `"thinks_s"` is the time before it.
    """

    call_id: str
    state: str = "pending"
    config: Json = field(default_factory=dict)
    script: deque[Json] = field(default_factory=deque)
    log: list[Json] = field(default_factory=list)
    verbs: list[Json] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    # When things happened, for measurements: calls and outputs by id, the ends of speech, the texts that were told.
    called_at: dict[str, float] = field(default_factory=dict)
    answered_at: dict[str, float] = field(default_factory=dict)
    spoken_at: list[float] = field(default_factory=list)
    told_at: list[float] = field(default_factory=list)
    _sockets: list[web.WebSocketResponse] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: count(1))
    # The caller types, and the offline model answers.
    is_typed: bool = False
    _dialog: Dialog = field(default_factory=Dialog)
    _called: dict[str, str] = field(default_factory=dict)
    _has_spoken: bool = False
    # The session's items in their order, by id, and the one that the caller is speaking.
    _items: dict[str, Json] = field(default_factory=dict)
    _speaking: str = ""
    _peer: Peer | None = None
    # Not set while nobody can connect.
    _is_reachable: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._is_reachable.set()

    @property
    def document(self) -> Json:
        """The call as the tests read it."""
        return {
            "call_id": self.call_id,
            "state": self.state,
            "session": self.config,
            "verbs": self.verbs,
            "outputs": self.outputs,
            "told": self.told,
            "log": self.log,
            "called_at": self.called_at,
            "answered_at": self.answered_at,
            "spoken_at": self.spoken_at,
            "told_at": self.told_at,
            "connections": len(self._sockets),
            "media": self._peer.state if self._peer else "",
        }

    async def serve(self, socket: web.WebSocketResponse) -> None:
        """Speak the control protocol on one connection."""
        await self._is_reachable.wait()
        self._sockets.append(socket)
        try:
            await self.emit("session.created", session={"type": "realtime", **self.config})
            async for message in socket:
                await self._on_client(json.loads(message.data))
        finally:
            self._sockets.remove(socket)

    async def connect(self, offer: str) -> str:
        """The answer to a browser's offer. Its call ends when the browser is gone. Raises NoMedia, ValueError."""
        self._peer = Peer(partial(self.end, "ended"))
        return await self._peer.answer(offer)

    async def say(self, text: str, *, speaks_s: float = 0) -> None:
        """The caller says something for so long, and the model answers."""
        item = self._speaking or await self.start_speaking()
        await asyncio.sleep(speaks_s)
        self._speaking = ""
        await self.emit("input_audio_buffer.speech_stopped", item_id=item)
        await self.emit("input_audio_buffer.committed", item_id=item)
        content = [{"type": "input_audio", "transcript": text}]
        await self._add({"id": item, "type": "message", "role": "user", "status": "completed", "content": content})
        await self.emit("conversation.item.input_audio_transcription.completed", item_id=item, transcript=text)
        await self.respond()

    async def start_speaking(self) -> str:
        """The caller begins to speak and goes on. Returns the id of what they say."""
        self._speaking = self._id("item")
        await self.emit("input_audio_buffer.speech_started", item_id=self._speaking)
        return self._speaking

    async def respond(self) -> None:
        """The model's next answer: the next step of the script, or a phrase of its own."""
        step = self._next_step()
        self._has_spoken = True
        response = self._id("resp")
        await self.emit("response.created", response={"id": response, "status": "in_progress"})
        await asyncio.sleep(step.get("thinks_s", 0))
        if step.get("say"):
            await self._speak(response, step)
        if step.get("call"):
            item = {
                "id": self._id("item"),
                "type": "function_call",
                "call_id": step.get("call_id") or self._id("call"),
                "name": step["call"],
                "arguments": step["raw"] if "raw" in step else json.dumps(step.get("arguments", {})),
            }
            self._called[item["call_id"]] = step["call"]
            await self._add(item)
            await self.emit("response.output_item.done", response_id=response, item=item)
            if step.get("repeated"):
                await self.emit("response.output_item.done", response_id=response, item=item)
        await self.emit("response.done", response={"id": response, "status": "completed", "usage": usage_of(step)})

    def _next_step(self) -> Json:
        if self.script:
            return self.script.popleft()
        if self.is_typed:
            return self._dialog.answer(self.config)
        return {"say": DEFAULT if self._has_spoken else GREETING}

    async def end(self, state: str) -> None:
        """End the call, and close its connections as the provider does."""
        if self.state in OVER:
            return
        self.state = state
        if self._peer is not None:
            await self._peer.close()
        for socket in list(self._sockets):
            await socket.close(code=1000)

    async def cut(self, *, keeps_out: bool = False) -> None:
        """Drop the connections without ending the call. With `keeps_out`, new ones wait for `mend`."""
        if keeps_out:
            self._is_reachable.clear()
        for socket in list(self._sockets):
            if socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()
        await asyncio.sleep(0)

    def mend(self) -> None:
        """Serve connections again."""
        self._is_reachable.set()

    async def emit(self, kind: str, **fields: Any) -> None:
        """Send one event to every connection."""
        event = {"type": kind, "event_id": self._id("event"), **fields}
        self.log.append(event)
        if kind == "output_audio_buffer.stopped":
            self.spoken_at.append(time.time())
        elif kind == "response.output_item.done":
            self.called_at.setdefault(fields["item"]["call_id"], time.time())
        for socket in list(self._sockets):
            # One whose client was killed may not be known as closed yet.
            with suppress(ConnectionError):
                await socket.send_str(json.dumps(event))

    async def _speak(self, response: str, step: Json) -> None:
        item = self._id("item")
        content = [{"type": "output_audio", "transcript": step["say"]}]
        await self._add({"id": item, "type": "message", "role": "assistant", "status": "completed", "content": content})
        await self.emit("output_audio_buffer.started", response_id=response)
        await self.emit(
            "response.output_audio_transcript.done", response_id=response, item_id=item, transcript=step["say"]
        )
        if "interrupted_ms" in step:
            await self.emit("output_audio_buffer.cleared", response_id=response)
            await self.emit("conversation.item.truncated", item_id=item, audio_end_ms=step["interrupted_ms"])
        elif not step.get("keeps_playing"):
            await self.emit("output_audio_buffer.stopped", response_id=response)

    async def _on_client(self, event: Json) -> None:
        kind = event.get("type")
        if kind == "response.create":
            await self.respond()
        elif kind == "session.update":
            self.config |= event.get("session", {})
        elif kind == "conversation.item.create":
            await self._on_item(event.get("item", {}))
        elif kind == "conversation.item.retrieve":
            await self._retrieve(event)
        else:
            await self.emit("error", error={"type": "invalid_request_error", "message": f"Unknown event {kind}."})

    async def _on_item(self, item: Json) -> None:
        if item.get("type") == "function_call_output":
            if item["call_id"] in self.outputs:
                self.log.append({"type": "duplicate_output", "call_id": item["call_id"]})
            self.outputs[item["call_id"]] = item["output"]
            self.answered_at.setdefault(item["call_id"], time.time())
            self._dialog.results.append((self._called.get(item["call_id"], ""), item["output"]))
        else:
            text = "".join(part.get("text", "") for part in item.get("content", []))
            if item.get("role") == "user":
                self._dialog.hear(text)
            else:
                self.told_at.append(time.time())
                self.told.append(text)
                self._dialog.tell(text)
        await self._add({"id": self._id("item"), **item})

    async def _add(self, item: Json) -> None:
        """Add an item to the session, and say which one it follows."""
        previous = next(reversed(self._items), None)
        self._items[item["id"]] = item
        await self.emit("conversation.item.added", item=item, previous_item_id=previous)

    async def _retrieve(self, event: Json) -> None:
        item = self._items.get(event.get("item_id", ""))
        if item is not None:
            await self.emit("conversation.item.retrieved", item=item)
            return
        error = {"type": "invalid_request_error", "code": "item_not_found", "event_id": event.get("event_id")}
        await self.emit("error", error={**error, "message": "No such item."})

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self.call_id}_{next(self._numbers)}"
