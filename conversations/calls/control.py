"""The control connection of a call: the session's events become reports and tool calls, and updates go into it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from conversations.calls.read_back import QUIET, SessionItems, read_back
from conversations.calls.report_queue import ReportQueue
from conversations.calls.store import KeptCall, mark_missing_words, read_record
from conversations.calls.transcript import Transcript
from conversations.calls.typed import typed_words
from conversations.calls.voice_usage import tokens_of
from conversations.live.stream import Frame
from conversations.voice.reports import Report, ReportType
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from conversations.voice.updates import UpdatesCursor, update_frames
from jobs.failpoints import failpoint
from jobs.lanes import ClaimedJob
from llm.realtime import ControlConnection
from tenancy.threads import in_db

logger = logging.getLogger(__name__)

# How long the agent's last words may take after the call's end was decided.
LAST_WORDS_SECONDS = 15.0
LOOK_SECONDS = 0.05
# Tools after which the call ends at once.
AT_ONCE = frozenset({"flag_caller"})
# Updates that the agent tells the caller now.
TOLD_NOW = frozenset({"urgent_message", "correction"})
REPEAT = "Ask the caller to repeat what they said last."
LOOKUP = "lookup_caller"
LOOKUP_SECONDS = 4.0


class CallControl:
    """One connection to a call's session. `stop` says why the voice must end, once it must: `{"code", "number"?}`."""

    def __init__(self, job: ClaimedJob, kept: KeptCall, connection: ControlConnection) -> None:
        self._job = job
        self._kept = kept
        self._connection = connection
        self._transcript = Transcript()
        self._items = SessionItems(connection)
        self._reports = ReportQueue(job, kept)
        self._seen_calls: set[str] = set()
        self._tools: set[asyncio.Task[None]] = set()
        self._is_responding = False
        self._wants_response = False
        self._is_urgent = False
        # Set while the caller doesn't speak.
        self._silence = asyncio.Event()
        self._silence.set()
        # Set once the session holds nothing unread. What is added before would be taken for the newest item.
        self._is_read = asyncio.Event()
        self.stop: Mapping[str, str] | None = None

    async def run(self, *, is_taken_over: bool) -> None:
        """Serve the session until the provider closes it or the voice must stop."""
        reading = asyncio.create_task(self._read())
        updating = asyncio.create_task(self._update())
        others = [asyncio.create_task(self._hear_typed())] if self._kept.is_typed else []
        try:
            await (self._resume() if is_taken_over else self._greet())
            ends = {reading, updating, *others, self._reports.failed}
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if self.stop is not None and not reading.done():
                await self._last_words(reading)
        finally:
            tasks = [reading, updating, *others, *self._tools]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def report_rest(self) -> None:
        """Report what is left when the call is over."""
        self._reports.add(self._transcript.take_rest())
        await self._reports.flush()

    async def _read(self) -> None:
        async for event in self._connection.events():
            await self._on_event(event)

    async def _on_event(self, event: Mapping[str, Any]) -> None:
        self._items.take(event)
        self._reports.add(self._transcript.take(event))
        if self._transcript.speaking:
            self._silence.clear()
        else:
            self._silence.set()
        kind = event["type"]
        if kind == "response.created":
            self._is_responding = True
        elif kind == "response.done":
            self._is_responding = False
            self._reports.add_tokens(tokens_of(event.get("response")))
        elif kind == "response.output_item.done":
            self._on_item(event.get("item"))
        await self._respond()

    async def _hear_typed(self) -> None:
        """Say to the model what the caller types. It is stored as said before: after a crash, the agent asks again."""
        await self._is_read.wait()
        async for words in typed_words(self._job, self._kept):
            self._reports.add([Report(words.report_id, ReportType.CALLER_SAID, text=words.text)])
            await self._reports.flush()
            self._transcript.heard = f"{self._transcript.heard} {words.text}".strip()
            content = [{"type": "input_text", "text": words.text}]
            item = {"type": "message", "role": "user", "content": content}
            await self._connection.send({"type": "conversation.item.create", "item": item})
            self._wants_response = True
            await self._respond()

    # Tools

    def _on_item(self, item: Any) -> None:
        if not isinstance(item, Mapping) or item.get("type") != "function_call":
            return
        call_id = str(item.get("call_id") or "")[:200]
        if call_id and call_id not in self._seen_calls:
            self._seen_calls.add(call_id)
            self._run_tool(call_id, str(item.get("name") or "")[:200], str(item.get("arguments") or ""))

    def _run_tool(self, call_id: str, name: str, arguments: str) -> None:
        task = asyncio.create_task(self._call_tool(call_id, name, arguments))
        self._tools.add(task)
        task.add_done_callback(self._on_tool_done)

    def _on_tool_done(self, task: asyncio.Task[None]) -> None:
        self._tools.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("A tool of the call %s ended in %s.", self._kept.call_id, type(error).__name__)

    async def _call_tool(self, call_id: str, name: str, arguments: str) -> None:
        """Run one tool and give the model its result. The log's own row makes it run once."""
        failpoint("call.tool_asked")
        heard, self._transcript.heard = self._transcript.heard, ""
        # What was said before the call is on record before it.
        await self._reports.flush()
        answer = await handle_tool_call(self._live_call(call_id, name, arguments, heard=heard))
        failpoint("call.tool_done")
        self._is_urgent = self._is_urgent or (name in AT_ONCE and answer.signal is not None)
        item = {"type": "function_call_output", "call_id": call_id, "output": answer.result}
        await self._connection.send({"type": "conversation.item.create", "item": item})
        self._reports.add_output(call_id)
        if answer.signal is None:
            self._wants_response = True
            self._tools.discard(asyncio.current_task())
            await self._respond()
        await self._reports.flush()
        failpoint("call.output_sent")

    def _live_call(self, call_id: str, name: str, arguments: str, *, heard: str = "") -> LiveCall:
        return LiveCall(
            organization_id=self._kept.organization_id,
            project_id=self._kept.project_id,
            conversation_id=self._kept.conversation_id,
            call_id=call_id,
            name=name,
            arguments_json=arguments,
            context=self._kept.context,
            heard=heard,
            job=self._job,
        )

    async def _respond(self) -> None:
        """Have the model speak, once nothing it waits for is missing."""
        is_busy = self._is_responding or bool(self._tools) or self._transcript.speaking
        if self._wants_response and not is_busy and self.stop is None:
            self._wants_response, self._is_responding = False, True
            await self._connection.send({"type": "response.create"})

    # The beginning

    async def _greet(self) -> None:
        """Look the caller up within its limit, and have the agent speak first."""
        self._is_read.set()
        if self._kept.looks_up_caller:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOKUP_SECONDS):
                    answer = await handle_tool_call(self._live_call(LOOKUP, LOOKUP, "{}"))
                    await self._tell(f"<{LOOKUP}>\n{answer.result.replace('<', '‹')}\n</{LOOKUP}>")
        self._wants_response = True
        await self._respond()

    async def _resume(self) -> None:
        """Read back the items said while no worker listened, and give the model results that it may have missed."""
        record = await in_db(read_record, self._job, self._kept)
        self._seen_calls |= {called["call"] for called in record.undelivered}
        found = await read_back(self._items, record)
        self._is_read.set()
        for called in record.undelivered:
            if called["call"] != LOOKUP:
                self._run_tool(called["call"], called["tool"], "{}")
        if found.has_missing_words:
            await in_db(mark_missing_words, self._job, self._kept)
            await self._tell(REPEAT)
        self._reports.add(found.reports)
        for item in found.calls:
            self._on_item(item)
        # The provider answers a caller who speaks by itself.
        is_answered = found.last_speaker == "assistant" or (found.last_speaker == "user" and not self._kept.is_typed)
        self._wants_response = self._wants_response or found.has_missing_words or not is_answered
        await self._respond()

    # Updates

    async def _update(self) -> None:
        cursor = UpdatesCursor(self._kept.organization_id, self._kept.conversation_id, self._kept.applied)
        async for frames in update_frames(cursor):
            for frame in frames:
                if frame.event == "stop":
                    self.stop = dict(frame.data)
                    return
                if frame.event:
                    await self._deliver(frame)

    async def _deliver(self, frame: Frame) -> None:
        """Insert an update into the session, once it is read and the caller is silent."""
        await self._is_read.wait()
        await self._silence.wait()
        await self._tell(frame.data["text"], is_quiet=frame.event not in TOLD_NOW)
        seq = int(frame.data["seq"])
        self._reports.add([Report(f"update:{seq}", ReportType.UPDATE_APPLIED, seq=seq)])
        if frame.event in TOLD_NOW:
            self._wants_response = True
            await self._respond()

    async def _tell(self, text: str, *, is_quiet: bool = False) -> None:
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "system", "content": content}
        if is_quiet:
            item["id"] = f"{QUIET}{uuid4().hex[:20]}"
        await self._connection.send({"type": "conversation.item.create", "item": item})

    async def _last_words(self, reading: asyncio.Task[None]) -> None:
        """Wait until the agent has said its last words, unless the call must end at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                while not self._is_urgent and not reading.done() and (self._is_responding or self._transcript.playing):
                    await asyncio.sleep(LOOK_SECONDS)
