"""HTTP responses of the offline model: blocks, timing and scripted faults."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from offline_model.script import Fault, Step
from offline_model.wire import Answer, ChatCall, Envelope, Usage, completion, dump, end_chunk, error_body, token_chunks

JSON_TYPE = b"application/json"
SSE_TYPE = b"text/event-stream; charset=utf-8"
GATEWAY_PAGE = b"<!doctype html><html><title>Sign in</title><body>Please sign in to the network.</body></html>"
BROKEN_JSON = '{"verdicts": [{"quote": "'
STATUS_TEXTS = {
    Fault.UNAUTHORIZED: ("Incorrect API key provided.", "invalid_api_key", "invalid_request_error"),
    Fault.NOT_FOUND: (
        "The model does not exist or you do not have access to it.",
        "model_not_found",
        "invalid_request_error",
    ),
    Fault.RATE_LIMIT: ("Rate limit reached for requests.", "rate_limit_exceeded", "requests"),
    Fault.SERVER_ERROR: ("The server had an error while processing your request.", "server_error", "server_error"),
}


class Ending(StrEnum):
    """Connection state after the last block."""

    COMPLETE = "complete"
    CUT = "cut"
    """The connection is closed in the middle of the body."""
    SILENCE = "silence"
    """Nothing more is sent, and the connection stays open."""


@dataclass(frozen=True)
class Response:
    """Blocks of bytes with the pauses between them, in seconds. `length` is the announced content length, or None."""

    blocks: list[bytes]
    content_type: bytes = JSON_TYPE
    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    ending: Ending = Ending.COMPLETE
    length: int | None = None
    first_s: float = 0.0
    gap_s: float = 0.0


def json_response(body: bytes, *, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None) -> Response:
    return Response([body], status=status, headers=headers or [], length=len(body))


def build_response(answer: Answer, *, call: ChatCall, envelope: Envelope, usage: Usage, step: Step | None) -> Response:
    """Response for an answer, with the scripted fault if any."""
    fault = step.fault if step else None
    if fault is None:
        return _whole(answer, call=call, envelope=envelope, usage=usage)
    assert step is not None
    if fault in STATUS_TEXTS:
        return refusal(fault, retry_after=step.retry_after)
    if fault in (Fault.LENGTH, Fault.CONTENT_FILTER, Fault.EMPTY):
        return _whole(_spoiled(answer, step=step), call=call, envelope=envelope, usage=usage)
    if call.stream:
        return _faulty_stream(answer, call=call, envelope=envelope, usage=usage, step=step)
    return _faulty_body(answer, call=call, envelope=envelope, usage=usage, step=step)


def refusal(fault: Fault, *, retry_after: str) -> Response:
    """The response of a fault that is a status."""
    message, code, kind = STATUS_TEXTS[fault]
    headers = [(b"retry-after", retry_after.encode())] if retry_after else []
    return json_response(error_body(message, code=code, kind=kind), status=int(fault), headers=headers)


def _spoiled(answer: Answer, *, step: Step) -> Answer:
    """Truncated or empty answer."""
    if step.fault is Fault.EMPTY:
        return Answer()
    words = answer.text.split(" ")
    kept = " ".join(words[: step.after_tokens or max(1, len(words) // 2)])
    return Answer(text=kept, finish=str(step.fault))


def _whole(answer: Answer, *, call: ChatCall, envelope: Envelope, usage: Usage) -> Response:
    if not call.stream:
        return json_response(completion(answer, envelope=envelope, usage=usage))
    chunks = token_chunks(answer, envelope=envelope)
    chunks[-1] += end_chunk(answer.finish_reason, envelope=envelope, usage=usage if call.include_usage else None)
    return Response(chunks, content_type=SSE_TYPE)


def _faulty_stream(answer: Answer, *, call: ChatCall, envelope: Envelope, usage: Usage, step: Step) -> Response:
    chunks = token_chunks(answer, envelope=envelope)
    some = chunks[: step.after_tokens] if step.after_tokens else chunks[: max(1, len(chunks) // 2)]
    stream = Response(some, content_type=SSE_TYPE)
    match step.fault:
        case Fault.HANG:
            return replace(stream, blocks=[], ending=Ending.SILENCE)
        case Fault.STALL:
            return replace(stream, ending=Ending.SILENCE)
        case Fault.CUT:
            return replace(stream, ending=Ending.CUT)
        case Fault.ERROR_200:
            return replace(stream, blocks=[*some, b"data: " + _provider_error() + b"\n\n"])
        case Fault.GARBAGE_JSON if call.schema is None:
            return replace(stream, blocks=[*some, b'data: {"choices": [{"delta": \n\n'])
        case Fault.GARBAGE_JSON:
            return _whole(Answer(BROKEN_JSON), call=call, envelope=envelope, usage=usage)
        case Fault.HTML:
            return Response([GATEWAY_PAGE], content_type=b"text/html", length=len(GATEWAY_PAGE))
        case _:
            return replace(stream, blocks=chunks)


def _faulty_body(answer: Answer, *, call: ChatCall, envelope: Envelope, usage: Usage, step: Step) -> Response:
    body = completion(answer, envelope=envelope, usage=usage)
    half = Response([body[: len(body) // 2]], length=len(body))
    match step.fault:
        case Fault.HANG:
            return replace(half, blocks=[], ending=Ending.SILENCE)
        case Fault.STALL:
            return replace(half, ending=Ending.SILENCE)
        case Fault.CUT:
            return replace(half, ending=Ending.CUT)
        case Fault.ERROR_200:
            return json_response(_provider_error())
        case Fault.GARBAGE_JSON if call.schema is None:
            return json_response(body[: len(body) // 2])
        case Fault.GARBAGE_JSON:
            return json_response(completion(Answer(BROKEN_JSON), envelope=envelope, usage=usage))
        case Fault.HTML:
            return Response([GATEWAY_PAGE], content_type=b"text/html", length=len(GATEWAY_PAGE))
        case _:
            return json_response(body.replace(dump(answer.finish_reason) + b"}]", b"null}]"))


def _provider_error() -> bytes:
    """The body some compatible providers answer with status 200 when their upstream fails."""
    return error_body("Upstream provider returned an error.", code="502", kind="upstream_error")
