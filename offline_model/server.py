"""The ASGI application: Chat Completions, the model list, and the doors for tests."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import traceback
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs

from offline_model.composer import compose, fallback, skill_of
from offline_model.request_log import Record, RequestLog, named
from offline_model.response_sender import ClientGone, Message, Receive, ResponseSender, Send
from offline_model.responses import STATUS_TEXTS, Response, build_response, json_response, refusal
from offline_model.script import BadStep, Mode, Script, Step
from offline_model.wire import (
    Answer,
    BadRequest,
    ChatCall,
    Envelope,
    ToolUse,
    Usage,
    dump,
    error_body,
    pieces_of,
    read_call,
)

TRANSCRIPTION = "transcription"
MODEL_FIELD = re.compile(rb'name="model"\r\n\r\n([^\r]{1,120})\r\n')
MODELS = ("offline-large", "offline-fast")


@dataclass
class Latency:
    """Milliseconds before the first token, and between two tokens."""

    ttft_ms: float = 0.0
    gap_ms: float = 0.0


class OfflineModel:
    """ASGI application of the offline model; holds its state and its routes."""

    def __init__(self, *, ttft_ms: float = 0.0, gap_ms: float = 0.0) -> None:
        self._configured = Latency(ttft_ms, gap_ms)
        self.latency = replace(self._configured)
        self.script = Script()
        self.request_log = RequestLog()
        self._last_prompts: dict[str, str] = {}
        self._doors = {
            ("GET", "/healthz"): self._health,
            ("GET", "/v1/models"): self._models,
            ("POST", "/v1/audio/transcriptions"): self._transcriptions,
            ("GET", "/log"): self._log,
            ("POST", "/script"): self._script,
            ("POST", "/reset"): self._reset,
            ("POST", "/latency"): self._latency,
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _read_body(receive)
        method, path = scope["method"], scope["path"].rstrip("/")
        sender = ResponseSender(receive=receive, send=send, on_first_byte=lambda: None)
        if method == "POST" and path in ("/v1/chat/completions", "/chat/completions"):
            await self._chat(scope, body, receive, send)
        elif door := self._doors.get((method, path)):
            await sender.play(door(body, parse_qs(scope["query_string"].decode("latin-1"))))
        else:
            message = f"Unknown request URL: {method} {scope['path']}."
            await sender.play(json_response(error_body(message, code="unknown_url"), status=404))

    async def _chat(self, scope: Message, body: bytes, receive: Receive, send: Send) -> None:
        try:
            call = read_call(body)
        except BadRequest as error:
            sender = ResponseSender(receive=receive, send=send, on_first_byte=lambda: None)
            await sender.play(json_response(error_body(str(error), code="invalid_request"), status=400))
            return
        record = self._open_record(call, size=len(body), scope=scope)
        cancelled = True
        try:
            response = self._respond(call, record)
            record.status = response.status

            def first_byte() -> None:
                record.first_byte = time.time()

            await ResponseSender(receive=receive, send=send, on_first_byte=first_byte).play(response)
            cancelled = False
        except ClientGone:
            pass
        finally:
            self.request_log.close(record, cancelled=cancelled)

    def _open_record(self, call: ChatCall, *, size: int, scope: Message) -> Record:
        return self.request_log.open(
            skill=skill_of(call),
            model=call.model,
            stream=call.stream,
            messages=named(call.messages),
            response_format=call.schema_name or ("json_object" if call.schema else ""),
            tools=[tool.name for tool in call.tools],
            prompt_bytes=size,
            pictures=call.pictures,
            authorization=any(name == b"authorization" for name, _ in scope["headers"]),
        )

    def _respond(self, call: ChatCall, record: Record) -> Response:
        prompt = call.whole_text
        step = self.script.take(skill=record.skill, text=prompt)
        if step is None and self.script.mode is Mode.STRICT:
            message = f"Strict script: no step fits request {record.n} of skill {record.skill!r}."
            return json_response(error_body(message, code="unscripted_request", kind="server_error"), status=500)
        answer = _scripted(step) or _composed(call)
        usage = self._usage(record.skill, prompt, answer)
        envelope = Envelope(record.n, call.model)
        response = build_response(answer, call=call, envelope=envelope, usage=usage, step=step)
        return self._timed(response, step=step, tokens=usage.completion_tokens, is_stream=call.stream)

    def _timed(self, response: Response, *, step: Step | None, tokens: int, is_stream: bool) -> Response:
        first, gap = self.latency.ttft_ms, self.latency.gap_ms
        if step and step.ttft_ms is not None:
            first = step.ttft_ms
        if step and step.gap_ms is not None:
            gap = step.gap_ms
        if not is_stream:
            first += gap * max(0, tokens - 1)
        return replace(response, first_s=first / 1000, gap_s=gap / 1000) if first or gap else response

    def _usage(self, skill: str, prompt: str, answer: Answer) -> Usage:
        shared = shared_prefix(self._last_prompts.get(skill, ""), prompt)
        self._last_prompts[skill] = prompt
        said = len(answer.text) + sum(len(dump(use.arguments)) for use in answer.tool_calls)
        count = max(len(pieces_of(answer.text)), said // 4) if said else 0
        return Usage(len(prompt) // 4, shared // 4, count)

    def _health(self, _body: bytes, _query: dict[str, list[str]]) -> Response:
        return json_response(dump({"status": "ok", "pid": os.getpid()}))

    def _models(self, _body: bytes, _query: dict[str, list[str]]) -> Response:
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "offline"} for name in MODELS]
        return json_response(dump({"object": "list", "data": models}))

    def _transcriptions(self, body: bytes, _query: dict[str, list[str]]) -> Response:
        """The scripted words of a recording. Without a script there are none: the offline model doesn't hear."""
        values = {"messages": [], "response_format": "", "tools": [], "authorization": True, "stream": False}
        found = MODEL_FIELD.search(body)
        model = found[1].decode() if found else ""
        record = self.request_log.open(skill=TRANSCRIPTION, model=model, prompt_bytes=len(body), **values)
        step = self.script.take(skill=TRANSCRIPTION, text="")
        if step and step.fault in STATUS_TEXTS:
            response = refusal(step.fault, retry_after=step.retry_after)
        else:
            words = (step and step.text) or ""
            heard, said = len(body) // 1000 + 1, len(words) // 4
            counts = {"input_tokens": heard, "output_tokens": said, "total_tokens": heard + said}
            response = json_response(dump({"text": words, "usage": {"type": "tokens", **counts}}))
        record.status = response.status
        self.request_log.close(record, cancelled=False)
        return response

    def _log(self, _body: bytes, query: dict[str, list[str]]) -> Response:
        since = query.get("since", ["0"])[0]
        requests = self.request_log.since(int(since) if since.isdigit() else 0)
        shown = {"requests": requests, "unused": self.script.unused(), "in_flight": self.request_log.in_flight}
        return json_response(dump(shown))

    def _script(self, body: bytes, _query: dict[str, list[str]]) -> Response:
        try:
            added = self.script.add(json.loads(body))
        except (BadStep, ValueError, TypeError) as error:
            return json_response(error_body(str(error), code="bad_step"), status=400)
        return json_response(dump({"added": added, "queued": len(self.script.steps), "mode": self.script.mode}))

    def _reset(self, _body: bytes, _query: dict[str, list[str]]) -> Response:
        self.script = Script()
        self.request_log.clear()
        self.latency = replace(self._configured)
        self._last_prompts.clear()
        return json_response(dump({"status": "ok"}))

    def _latency(self, body: bytes, _query: dict[str, list[str]]) -> Response:
        try:
            asked = {k: float(v) for k, v in json.loads(body).items() if k in ("ttft_ms", "gap_ms")}
        except (ValueError, TypeError, AttributeError) as error:
            return json_response(error_body(str(error), code="bad_latency"), status=400)
        self.latency = replace(self.latency, **asked)
        return json_response(dump({"ttft_ms": self.latency.ttft_ms, "gap_ms": self.latency.gap_ms}))


def _scripted(step: Step | None) -> Answer | None:
    if step is None:
        return None
    if step.tool_calls:
        uses = tuple(ToolUse(c["name"], c.get("arguments", {})) for c in step.tool_calls)
        return Answer(step.text or "", tool_calls=uses)
    if step.json is not None:
        return Answer(json.dumps(step.json, ensure_ascii=False))
    return Answer(step.text) if step.text is not None else None


def _composed(call: ChatCall) -> Answer:
    try:
        return compose(call)
    except Exception:  # the server's edge: a prompt it can't read still gets a valid answer
        traceback.print_exc(file=sys.stderr)
        return fallback(call)


def shared_prefix(a: str, b: str) -> int:
    """Length of the common prefix of two prompts, by bisection."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


async def _read_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message: dict[str, Any] = dict(await receive())
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
