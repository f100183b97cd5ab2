"""A scripted model endpoint over real sockets, with one behavior for each request of a path."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Behaviour = Callable[["Exchange"], Awaitable[None]]


@dataclass
class Exchange:
    """A request, and the connection to respond on."""

    headers: dict[str, str]
    body: dict[str, Any]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: str | bytes) -> None:
        self.writer.write(data.encode() if isinstance(data, str) else data)
        await self.writer.drain()

    async def until_client_leaves(self) -> None:
        await self.reader.read()


class FaultServer:
    """Serves `/<case>/v1/…`. The last behavior of a case repeats."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Exchange]] = defaultdict(list)
        self.connections = 0
        self.departures: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._behaviours: dict[str, list[Behaviour]] = {}
        self._visits: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._visit, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    def script(self, case: str, *behaviours: Behaviour) -> str:
        """Set the behaviors of a case and return its base URL."""
        self._behaviours[case] = list(behaviours)
        return f"http://127.0.0.1:{self.port}/{case}/v1"

    def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._visits.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        case = ""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                case = head.split(b"/")[1].decode()
                await self._answer(case, head, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.departures[case].set()
            writer.close()

    async def _answer(self, case: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = head.decode().strip().split("\r\n")[1:]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        sent = await reader.readexactly(int(headers.get("content-length", 0))) or b"{}"
        is_form = headers.get("content-type", "").startswith("multipart/")
        body = {} if is_form else json.loads(sent)
        exchange = Exchange(headers, body, reader, writer)
        self.requests[case].append(exchange)
        steps = self._behaviours[case]
        await (steps.pop(0) if len(steps) > 1 else steps[0])(exchange)


def answers(
    status: int, body: Any, *, kind: str = "application/json", headers: dict[str, str] | None = None
) -> Behaviour:
    """A complete response. Content other than text is sent as JSON."""
    payload = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"Content-Type": kind, "Content-Length": str(len(payload)), **(headers or {})}
    head = f"HTTP/1.1 {status} Status\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    async def behave(exchange: Exchange) -> None:
        await exchange.send(head.encode() + b"\r\n" + payload)

    return behave


def error(status: int, message: str, *, headers: dict[str, str] | None = None, **fields: Any) -> Behaviour:
    """An error response in OpenAI's format."""
    return answers(status, {"error": {"message": message, "type": "fault", **fields}}, headers=headers)


def message(content: Any, *, finish: str | None = "stop", **fields: Any) -> dict[str, Any]:
    """The body of a completion that isn't streamed."""
    return {
        "id": "c",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **fields}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}},
    }


def chunk(text: str | None = None, *, finish: Any = None, **delta: Any) -> str:
    """One event of a stream."""
    part = {"choices": [{"index": 0, "delta": {"content": text} | delta, "finish_reason": finish}]}
    return f"data: {json.dumps(part)}\n\n"


USAGE = 'data: {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4}}\n\n'
DONE = "data: [DONE]\n\n"
STREAM_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunked(text: str) -> str:
    return f"{len(text.encode()):x}\r\n{text}\r\n"


def streams(*events: str, then: Behaviour | None = None) -> Behaviour:
    """A stream of these events that ends properly, or continues with `then`."""

    async def behave(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD)
        for event in events:
            await exchange.send(chunked(event))
        await (then(exchange) if then else exchange.send("0\r\n\r\n"))

    return behave


async def hang_up(exchange: Exchange) -> None:
    exchange.writer.close()


async def hang(exchange: Exchange) -> None:
    """Send nothing until the client leaves."""
    await exchange.until_client_leaves()
    raise ConnectionResetError


async def until(condition: Callable[[], object]) -> None:
    """Wait up to five seconds for the condition."""
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)
