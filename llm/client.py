"""The model client: stream a reply, complete in one piece, or return structured output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from llm.errors import LengthCut, SchemaMismatch
from llm.health import EndpointHealth, HealthRegistry
from llm.structured import Mismatch, parse, parse_object, repair_messages, schema_of
from llm.types import CallRecord, ChatRequest, Completion, Endpoint, FinishReason, ModelSpec, Recording
from llm.wire import OutputSchema, WireRequest
from outbound.tenant import current_tenant

if TYPE_CHECKING:
    from llm.call import Call, OnRecord, OnText
    from llm.prices import Prices
    from llm.thinking import ThinkingMemory
    from outbound.guard import Guard

TRANSCRIPTION = "transcription"
Output = TypeVar("Output", bound=BaseModel)
T = TypeVar("T")
OnCall = Callable[[ChatRequest, CallRecord], object]


class Client:
    """A client for one event loop.

    Every method raises LlmError, and calls `record` exactly once with a CallRecord: after success, failure or
    cancellation. Cancelling the task closes the connection at once. `record` and `on_text` run on the event loop, so
    they must be quick and must not raise.
    """

    def __init__(
        self,
        *,
        prices: Prices | None = None,
        outbound: Guard | None = None,
        observe: OnCall | None = None,
        memory: ThinkingMemory | None = None,
    ) -> None:
        """`outbound` guards untrusted endpoints. Without it, they must be on the public internet.

        `observe` gets the request and the record of every call, before the caller gets the record. `memory` keeps what
        was learned of models that think, for other processes.
        """
        # Imported late: the SDK takes a second to load, and many commands call no model
        from llm.sdk import Sdk

        self._prices = prices or {}
        self._sdk = Sdk(outbound)
        self._health = HealthRegistry()
        self._observe = observe
        self._memory = memory

    async def stream(self, request: ChatRequest, *, on_text: OnText, record: OnRecord) -> Completion:
        """Stream an answer. `on_text` gets each piece of text as it arrives.

        Retries only until the first text is passed on. StreamCut and TotalDeadline carry the text so far as `partial`.
        """
        call = self._call(request)
        with call.recorded(self._observed(request, record)):
            await call.ask(_wire_request(request, is_streamed=True), on_text=on_text)
            return call.completion()

    async def complete(self, request: ChatRequest, *, record: OnRecord) -> Completion:
        """Return the whole answer."""
        call = self._call(request)
        with call.recorded(self._observed(request, record)):
            await call.ask(_wire_request(request))
            return call.completion()

    async def structured(self, request: ChatRequest, *, output: type[Output], record: OnRecord) -> Output:
        """Return an answer that matches the output model. The model gets one chance to repair an invalid answer.

        Raises SchemaMismatch if the repair is invalid too, and LengthCut for a truncated answer, which is never
        repaired.
        """
        schema = schema_of(output, name=request.skill)
        return await self._validated(request, schema, partial(parse, output=output), record=record)

    async def object(self, request: ChatRequest, *, schema: dict[str, Any], record: OnRecord) -> dict[str, Any]:
        """Return an object that matches a JSON Schema written by a tenant or a tool.

        Repairs and raises as `structured` does.
        """
        offered = OutputSchema(request.skill, schema, is_strict=False)
        return await self._validated(request, offered, partial(parse_object, schema=schema), record=record)

    async def _validated(
        self, request: ChatRequest, schema: OutputSchema, read: Callable[[str], T], *, record: OnRecord
    ) -> T:
        call = self._call(request)
        wire = replace(_wire_request(request), schema=schema)
        with call.recorded(self._observed(request, record)):
            text = await _whole_text(call, wire)
            try:
                return read(text)
            except Mismatch as exc:
                messages = repair_messages(wire.messages, text=text, mismatch=exc)
            text = await _whole_text(call, replace(wire, messages=messages))
            try:
                return read(text)
            except Mismatch as exc:
                failure = SchemaMismatch(f"The model's answer does not match the schema, even after one repair:\n{exc}")
            raise failure

    async def transcribe(self, model: ModelSpec, recording: Recording, *, deadline_s: float, record: OnRecord) -> str:
        """Return the words of a recording. Asks once."""
        from llm.transcription import TranscriptionCall

        request = ChatRequest(skill=TRANSCRIPTION, template_hash="", model=model, messages=[])
        call = TranscriptionCall(request, sdk=self._sdk, health=self._health_of(model), prices=self._prices)
        with call.recorded(self._observed(request, record)):
            return await call.transcribe(recording, deadline_s=deadline_s)

    async def aclose(self) -> None:
        """Close all connections. Running calls fail."""
        await self._sdk.aclose()

    def open_breakers(self) -> list[Endpoint]:
        """The endpoints whose circuit breaker refuses calls now, once for each tenant. Thread-safe."""
        return self._health.open_breakers()

    def _observed(self, request: ChatRequest, record: OnRecord) -> OnRecord:
        observe = self._observe
        if observe is None:
            return record

        def pass_on(found: CallRecord) -> None:
            observe(request, found)
            record(found)

        return pass_on

    def _call(self, request: ChatRequest) -> Call:
        from llm.call import Call

        return Call(
            request,
            sdk=self._sdk,
            health=self._health_of(request.model),
            prices=self._prices,
            memory=self._memory,
        )

    def _health_of(self, model: ModelSpec) -> EndpointHealth:
        return self._health.of(model.endpoint, current_tenant())


def _wire_request(request: ChatRequest, *, is_streamed: bool = False) -> WireRequest:
    return WireRequest(
        model=request.model.model,
        messages=request.messages,
        pictures=request.pictures,
        system_without_tools=request.system_without_tools,
        tools=request.tools,
        may_call=request.may_call,
        is_streamed=is_streamed,
        max_output_tokens=request.max_output_tokens,
    )


async def _whole_text(call: Call, wire: WireRequest) -> str:
    answer = await call.ask(wire)
    if answer.finish is FinishReason.LENGTH:
        raise LengthCut
    return answer.text
