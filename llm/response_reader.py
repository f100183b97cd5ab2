"""Reads the response to a chat completion, as a stream of events or as one body."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from llm.completion_builder import CompletionBuilder
from llm.errors import BadAnswer

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 16 * 1024 * 1024
END_OF_STREAM = b"[DONE]"
JSON, PAGE, EVENTS = "application/json", "text/html", "text/event-stream"

# The second form is for servers that begin the stream with a byte order mark
DATA = (b"data:", b"\xef\xbb\xbfdata:")
# A longer line can't be an event of a chat completion
LONGEST_LINE = 1024 * 1024

# Called with the text of each event, which is often empty
OnProgress = Callable[[str], None]


async def read_answer(
    response: httpx2.Response, *, answer: CompletionBuilder, is_streamed: bool, on_progress: OnProgress
) -> None:
    """Fill `answer` from the response. Raises BadAnswer and the errors of the connection."""
    # Some servers ignore `stream` and send one JSON body. A wrong URL returns an HTML page
    if is_streamed and not _content_type(response).startswith((JSON, PAGE)):
        await _read_events(response, answer=answer, on_progress=on_progress)
    else:
        on_progress(answer.add_body(_json(await _whole_body(response), response=response)))


async def _read_events(response: httpx2.Response, *, answer: CompletionBuilder, on_progress: OnProgress) -> None:
    """Read the events, then the rest of the body: only then can the connection be reused."""
    lines = DataLines()
    async for chunk in _chunks(response):
        for payload in lines.feed(chunk):
            _add_event(payload, answer=answer, on_progress=on_progress)
    rest = lines.close()
    if not lines.has_any and not _content_type(response).startswith(EVENTS):
        raise BadAnswer(f"The endpoint's answer is not an event stream{_instead(response)}.")
    for payload in rest:
        # A truncated line is not an event; the missing finish reason reports it
        if payload.endswith((b"}", END_OF_STREAM)):
            _add_event(payload, answer=answer, on_progress=on_progress)


def _add_event(payload: bytes, *, answer: CompletionBuilder, on_progress: OnProgress) -> None:
    if payload and payload != END_OF_STREAM:
        on_progress(answer.add_chunk(_json(payload)))


async def _whole_body(response: httpx2.Response) -> bytes:
    return b"".join([chunk async for chunk in _chunks(response)])


async def _chunks(response: httpx2.Response) -> AsyncIterator[bytes]:
    size = 0
    async with aclosing(response.aiter_raw()) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > MOST_BYTES:
                raise BadAnswer("The endpoint's answer is longer than 16 MiB.")
            yield chunk


def _json(payload: bytes, *, response: httpx2.Response | None = None) -> Any:
    try:
        return from_json(payload)
    except ValueError:
        # It rejects lone surrogates, which some servers send when they split a character
        pass
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        failure = BadAnswer(f"The endpoint's answer is not JSON{_instead(response)}.")
    raise failure


def _instead(response: httpx2.Response | None) -> str:
    """The content type that the endpoint sent instead of the expected one, if any."""
    kind = _content_type(response) if response is not None else ""
    return f" but {kind}" if kind and not kind.startswith(JSON) else ""


def _content_type(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.lower()


class DataLines:
    """Splits a server-sent event stream into the payloads of its `data:` lines.

    Chat Completions puts each event on one line, so a line is an event.
    """

    def __init__(self) -> None:
        self._rest = b""
        self.has_any = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads of the lines completed by this chunk, without comments and other fields."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise BadAnswer("The endpoint's event stream contains a line of more than 1 MiB.")
        payloads = [line.partition(b":")[2].strip() for line in lines if line.startswith(DATA)]
        self.has_any = self.has_any or bool(payloads)
        return payloads

    def close(self) -> list[bytes]:
        """The payload of an unterminated last line."""
        return self.feed(b"\n")
