"""One model call: its attempts, deadlines and record."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from llm.completion_builder import CompletionBuilder, storable
from llm.errors import (
    BadAnswer,
    BreakerOpen,
    FirstTokenDeadline,
    LlmError,
    StreamCut,
    TooSlow,
    TotalDeadline,
    Unavailable,
)
from llm.features import REFUSAL_STATUSES, has_pictures
from llm.health import EndpointHealth
from llm.pace import Pace
from llm.prices import Prices, cost_usd
from llm.redaction import Redactor
from llm.response_reader import read_answer
from llm.sdk import FAILURES, LONGEST_RETRY_AFTER_S, Sdk, error_report_of, to_llm_error
from llm.thinking import ThinkingMemory, keep, recall
from llm.tool_markup import MarkupFilter
from llm.types import CallRecord, ChatRequest, Completion, FinishReason, ToolCall, Usage
from llm.wire import WireRequest, body_of
from llm.without_tools import messages_without_tools

OnText = Callable[[str], object]
OnRecord = Callable[[CallRecord], object]

MOST_RETRIES = 2
FIRST_PAUSE_S = 0.5
# Time for the endpoint to send its usage once the answer is complete
USAGE_GRACE_S = 2.0
LONGEST_TEXT = 500
# Refusals that may be about a picture, such as one that is too large.
PICTURE_STATUSES = REFUSAL_STATUSES | {413}
# Errors that count against the endpoint's health; any other response shows that it works
UNHEALTHY = (Unavailable, BadAnswer, StreamCut)


class _ParameterDropped(LlmError):
    """The endpoint rejected an optional parameter. The request is repeated without it."""


def ignore_text(text: str) -> None:
    """The default `on_text`, for callers that don't stream."""


class Call:
    """A call from its first attempt to its record.

    Use it once, inside `recorded`; `ask` may be called twice there.
    """

    def __init__(
        self,
        request: ChatRequest,
        *,
        sdk: Sdk,
        health: EndpointHealth,
        prices: Prices,
        memory: ThinkingMemory | None = None,
    ) -> None:
        self._request = request
        self._memory = memory
        self._sdk = sdk
        self._health = health
        self._features = health.features_of(request.model.model)
        self._prices = prices
        self._redactor = Redactor(request.model.endpoint.api_key)
        self._started_at = datetime.now(UTC)
        self._start = time.monotonic()
        self._first_token_ms: int | None = None
        self._attempts = 0
        self._retries = 0
        self._usage = Usage()
        self._answer = CompletionBuilder()
        self._markup = MarkupFilter()
        self._text = ""
        self._delivered = ""
        self._pace: Pace | None = None
        self._outage: LlmError | None = None
        self._sees = True
        self._on_text: OnText = ignore_text

    @contextmanager
    def recorded(self, on_record: OnRecord) -> Iterator[None]:
        """Pass the record to `on_record` exactly once, also after an error."""
        error_code: str | None = "internal"
        try:
            yield
            error_code = None
        except LlmError as exc:
            error_code = exc.code
            raise
        except asyncio.CancelledError:
            error_code = "cancelled"
            raise
        finally:
            on_record(self._record(error_code))

    async def ask(self, wire: WireRequest, *, on_text: OnText = ignore_text) -> CompletionBuilder:
        """Send the request until there is a usable answer, no retry is left or the deadline passes. Raises LlmError."""
        self._on_text = on_text
        self._answer = CompletionBuilder()
        self._health.budget.count_call()
        if wire.is_streamed:
            await recall(self._memory, self._request.model, self._features)
        limits = self._request.deadlines
        limit_s = min(limits.first_token_s, limits.total_s) if wire.is_streamed else limits.total_s
        try:
            async with asyncio.timeout_at(self._loop_time(limit_s)) as clock:
                failure = await self._attempt_until_done(wire, clock=clock)
        except TimeoutError:
            failure = self._timeout_error(wire)
        await keep(self._memory, self._request.model, self._features)
        if failure is not None:
            # Raised outside the except clause: an exception of the SDK may contain the key and must not become the
            # context
            raise self._redacted(failure)
        if wire.schema is None:
            self._deliver(self._markup.close(), wire=wire)
        return self._answer

    def completion(self) -> Completion:
        """The result of a successful `ask`."""
        calls = self._tool_calls()
        finish = self._answer.finish or FinishReason.STOP
        return Completion(
            text=self._text,
            tool_calls=calls,
            finish=FinishReason.TOOL_CALLS if calls else finish,
            has_dropped_markup=self._markup.has_dropped or len(calls) < len(self._markup.calls),
            usage=self._usage,
            first_token_ms=self._first_token_ms,
            total_ms=self._elapsed_ms(),
            attempts=self._attempts,
        )

    async def _attempt_until_done(self, wire: WireRequest, *, clock: asyncio.Timeout) -> LlmError | None:
        while True:
            failure = await self._attempt(wire, clock=clock)
            if isinstance(failure, _ParameterDropped):
                continue
            if failure is None or (pause_s := self._pause_s(failure, clock=clock)) is None:
                return failure
            self._retries += 1
            self._outage = failure if failure.outage else None
            await asyncio.sleep(pause_s)

    async def _attempt(self, wire: WireRequest, *, clock: asyncio.Timeout) -> LlmError | None:
        """Send one request. A failure is returned, so that the caller can raise it outside every except clause."""
        breaker = self._health.breaker
        if (refusal := breaker.refusal()) is not None:
            return refusal
        self._answer, self._text, self._pace = CompletionBuilder(), "", None
        offered = wire.tool_names if self._features.tools else ()
        self._markup = MarkupFilter(offered, begins_thinking=self._features.begins_thinking)
        self._attempts += 1
        try:
            failure = await self._send(wire, clock=clock)
        except BaseException:
            # Cancelled by the caller or by a deadline, or `on_text` raised
            breaker.abandoned()
            raise
        finally:
            self._usage += self._answer.usage
            is_reply = wire.is_streamed and self._answer.finish is FinishReason.STOP
            self._features.learn_thinking(self._answer.text, is_reply=is_reply)
        if isinstance(failure, UNHEALTHY):
            breaker.failed(str(self._redacted(failure)))
        else:
            breaker.succeeded()
        return failure

    async def _send(self, wire: WireRequest, *, clock: asyncio.Timeout) -> LlmError | None:
        answer = self._answer
        body = body_of(wire, features=self._features, sees=self._sees)
        try:
            async with self._sdk.post(self._request.model.endpoint, body) as response:
                await read_answer(
                    response,
                    answer=answer,
                    is_streamed=wire.is_streamed,
                    on_progress=lambda text: self._progress(text, wire=wire, clock=clock),
                )
            failure = answer.find_error()
        except LlmError as exc:
            failure = exc
        except FAILURES as exc:
            failure = self._learn_or_translate(exc, body=body)
        is_cut = answer.is_begun and isinstance(failure, (Unavailable, BadAnswer))
        return StreamCut(f"The answer ended early: {failure}") if is_cut else failure

    def _learn_or_translate(self, exc: Exception, *, body: dict[str, Any]) -> LlmError:
        report = error_report_of(exc)
        if report is not None and self._features.learn(report, body=body):
            return _ParameterDropped()
        if report is not None and report.status in PICTURE_STATUSES and has_pictures(body):
            # A picture that the endpoint can't read costs no reply. The next call may show another one.
            self._sees = False
            return _ParameterDropped()
        return to_llm_error(exc)

    def _progress(self, text: str, *, wire: WireRequest, clock: asyncio.Timeout) -> None:
        if not wire.is_streamed:
            # JSON that was asked for is no call
            self._deliver(self._markup.feed(text) if wire.schema is None else text, wire=wire)
            return
        if self._first_token_ms is None and self._answer.is_begun:
            self._first_token_ms = self._elapsed_ms()
        if self._answer.is_begun or self._answer.finish is not None:
            self._keep_pace(text, clock=clock)
        self._deliver(self._markup.feed(text), wire=wire)

    def _keep_pace(self, text: str, *, clock: asyncio.Timeout) -> None:
        """Move the limit of a stream that goes on: to the end of its window, or of the grace for its usage."""
        now = asyncio.get_running_loop().time()
        if self._answer.finish is not None:
            ends_at = now + USAGE_GRACE_S
        elif self._pace is None:
            self._pace = Pace.begin(now)
            ends_at = self._pace.ends_at
        elif self._pace.add(text, now=now):
            ends_at = self._pace.ends_at
        else:
            return
        clock.reschedule(min(ends_at, self._loop_time(self._request.deadlines.total_s)))

    def _deliver(self, text: str, *, wire: WireRequest) -> None:
        """Add to the answer's text, and pass it on if the answer is streamed."""
        self._text += text
        if text and wire.is_streamed:
            self._delivered += text
            self._on_text(text)

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls the server parsed, or else those found in the text; none if the answer was truncated."""
        if self._answer.finish is FinishReason.LENGTH:
            return ()
        return self._answer.tool_calls or tuple(self._markup.calls)

    def _pause_s(self, failure: LlmError, *, clock: asyncio.Timeout) -> float | None:
        """Seconds to wait before the next attempt, or None if there is none."""
        # The caller of an open breaker may wait longer than a call
        is_over = self._delivered or self._retries >= MOST_RETRIES or isinstance(failure, BreakerOpen)
        if is_over or not failure.retryable:
            return None
        pause_s = failure.retry_after_s
        if pause_s is None:
            pause_s = FIRST_PAUSE_S * 2**self._retries * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
        time_left_s = (clock.when() or 0.0) - asyncio.get_running_loop().time()
        if pause_s > LONGEST_RETRY_AFTER_S or pause_s >= time_left_s or not self._health.budget.take():
            return None
        return pause_s

    def _timeout_error(self, wire: WireRequest) -> LlmError | None:
        if self._answer.finish is not None:
            # The answer is complete; only its usage is missing
            self._health.breaker.succeeded()
            return self._answer.find_error()
        failure = self._missed_deadline(wire)
        self._health.breaker.failed(str(self._redacted(failure)))
        return failure

    def _missed_deadline(self, wire: WireRequest) -> LlmError:
        if self._pace is not None and self._loop_time(self._request.deadlines.total_s) > self._pace.ends_at:
            return TooSlow()
        if self._outage is not None and not self._answer.is_begun:
            return self._outage  # not slow, but out: the deadline ended its retries
        is_first = wire.is_streamed and self._first_token_ms is None
        return FirstTokenDeadline() if is_first else TotalDeadline()

    def _redacted(self, failure: LlmError) -> LlmError:
        # Redact before truncating: a key cut in half would not be found
        failure.args = (self._redactor.text(storable(str(failure)))[:LONGEST_TEXT],)
        failure.partial = self._redactor.text(self._delivered)
        return failure

    def _loop_time(self, seconds: float) -> float:
        """The event loop's time `seconds` after the start of the call."""
        return asyncio.get_running_loop().time() + seconds - (time.monotonic() - self._start)

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._start) * 1000)

    def _messages(self) -> list[dict[str, Any]]:
        """The messages as the endpoint got them."""
        request = self._request
        if self._features.tools or not request.tools:
            return request.messages
        return messages_without_tools(request.messages, system=request.system_without_tools)

    def _record(self, error_code: str | None) -> CallRecord:
        request = self._request
        model = request.model.model
        return CallRecord(
            skill=request.skill,
            template_hash=request.template_hash,
            model=model,
            host=_host_of(request.model.endpoint.base_url),
            messages=self._redactor.tree(self._messages()),
            output=self._redactor.text(self._answer.text),
            tool_calls=tuple(self._redactor.call(call) for call in self._answer.tool_calls),
            usage=self._usage,
            cost_usd=cost_usd(model, self._usage, self._prices),
            started_at=self._started_at,
            first_token_ms=self._first_token_ms,
            total_ms=self._elapsed_ms(),
            attempts=self._attempts,
            finish=self._answer.finish,
            error_code=error_code,
        )


def _host_of(base_url: str) -> str:
    """Host and port, even of an invalid URL: a record is written in any case."""
    return base_url.partition("://")[2].partition("/")[0].rpartition("@")[2]
