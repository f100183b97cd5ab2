"""A streamed reply, when all goes well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal

import pytest

from llm.client import Client
from llm.types import CallRecord, ChatRequest, FinishReason, ToolCall, Usage
from tests.llm.fault_server import (
    DONE,
    USAGE,
    Exchange,
    FaultServer,
    answers,
    chunk,
    chunked,
    hang,
    message,
    streams,
)

Ask = Callable[..., ChatRequest]
HELLO = (chunk(role="assistant"), chunk("Hel"), chunk("lo"), chunk(finish="stop"), USAGE, DONE)


async def test_pieces_of_text_are_handed_over_in_order(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    done = await client.stream(ask(server.script("ok", streams(*HELLO))), on_text=pieces.append, record=records.append)
    assert pieces == ["Hel", "lo"]
    assert (done.text, done.finish, done.attempts) == ("Hello", FinishReason.STOP, 1)
    assert done.usage == Usage(10, 0, 4)


async def test_a_piece_is_handed_over_before_the_next_is_sent(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    heard = asyncio.Event()

    async def waits_for_the_ear(exchange: Exchange) -> None:
        await asyncio.wait_for(heard.wait(), 5)
        for event in (chunk("lo"), chunk(finish="stop"), DONE):
            await exchange.send(chunked(event))
        await exchange.send("0\r\n\r\n")

    url = server.script("live", streams(chunk("Hel"), then=waits_for_the_ear))
    done = await client.stream(ask(url), on_text=lambda text: heard.set(), record=records.append)
    assert done.text == "Hello"


async def test_success_is_recorded_once_with_everything(
    server: FaultServer, ask: Ask, records: list[CallRecord]
) -> None:
    client = Client(prices={"test-model": (Decimal(2), Decimal(1), Decimal(10))})
    request = ask(server.script("ok", streams(*HELLO)))
    await client.stream(request, on_text=lambda text: None, record=records.append)
    await client.aclose()
    (record,) = records
    assert (record.skill, record.template_hash, record.model) == ("reply", "0123456789abcdef", "test-model")
    assert record.host == f"127.0.0.1:{server.port}"
    assert (record.messages, record.output) == (request.messages, "Hello")
    assert (record.finish, record.error_code, record.attempts) == (FinishReason.STOP, None, 1)
    assert record.cost_usd == Decimal("0.00006")
    assert record.started_at.tzinfo is not None
    assert record.first_token_ms is not None
    assert record.first_token_ms <= record.total_ms


async def test_events_cut_anywhere_are_put_together(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    whole = "".join([": comment\r\n\r\n", *HELLO]).replace("Hel", "Hé").replace("data: ", "data:", 2)

    async def byte_by_byte(exchange: Exchange) -> None:
        for byte in whole.encode():
            await exchange.send(b"1\r\n" + bytes([byte]) + b"\r\n")
        await exchange.send("0\r\n\r\n")

    url = server.script("bytes", streams(then=byte_by_byte))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert done.text == "Hélo"


async def test_tool_call_deltas_are_assembled(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    def part(index: int, arguments: str, *, name: str = "") -> str:
        function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
        return chunk(tool_calls=[{"index": index, "function": function} | ({"id": f"id_{name}"} if name else {})])

    events = (
        part(0, "", name="send_sms"),
        part(1, "", name="book"),
        part(0, '{"to": '),
        part(1, "{}"),
        part(0, '"+90"}'),
        chunk(finish="tool_calls"),
        DONE,
    )
    url = server.script("tools", streams(*events))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert done.finish is FinishReason.TOOL_CALLS
    assert done.tool_calls == (ToolCall("id_send_sms", "send_sms", '{"to": "+90"}'), ToolCall("id_book", "book", "{}"))
    assert done.tool_calls[0].arguments() == {"to": "+90"}
    assert records[0].tool_calls == done.tool_calls


async def test_fifty_parallel_tool_calls_are_told_apart(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    calls = [
        {"id": f"c{number}", "function": {"name": "book", "arguments": f'{{"n": {number}}}'}} for number in range(50)
    ]
    url = server.script("fifty", streams(chunk(tool_calls=calls), chunk(finish="tool_calls"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert [call.arguments() for call in done.tool_calls] == [{"n": number} for number in range(50)]


async def test_tool_arguments_that_were_cut_are_no_arguments(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    cut = [{"index": 0, "id": "a", "function": {"name": "send_sms", "arguments": '{"to": '}}]
    url = server.script("cut", streams(chunk(tool_calls=cut), chunk(finish="tool_calls"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert done.tool_calls[0].arguments() is None


async def test_length_keeps_the_text_and_drops_the_tool_calls(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    call = [{"index": 0, "id": "a", "function": {"name": "send_sms", "arguments": "{}"}}]
    url = server.script("length", streams(chunk("Hel", tool_calls=call), chunk(finish="length"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (done.text, done.tool_calls, done.finish) == ("Hel", (), FinishReason.LENGTH)


async def test_a_server_that_ignores_stream_is_understood(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    url = server.script("plain", answers(200, message("Hello")))
    done = await client.stream(ask(url), on_text=pieces.append, record=records.append)
    assert (done.text, pieces) == ("Hello", ["Hello"])


async def test_a_whole_answer_does_not_wait_for_its_usage_for_ever(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm.call.USAGE_GRACE_S", 0.2)
    url = server.script("late", streams(chunk("Hello"), chunk(finish="stop"), then=hang))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (done.text, done.usage) == ("Hello", Usage())


async def test_a_character_cut_in_two_between_events_is_whole_again(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    events = (chunk("Hi \ud83d"), chunk("\ude00"), chunk("!\0\udfff"), chunk("\ud83d"), chunk(finish="stop"), DONE)
    done = await client.stream(ask(server.script("ok", streams(*events))), on_text=pieces.append, record=records.append)
    assert (done.text, pieces) == ("Hi 😀!\ufffd", ["Hi ", "😀", "!\ufffd"])


async def test_the_connection_is_used_again(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("ok", streams(*HELLO))
    for _ in range(3):
        await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert server.connections == 1


async def test_the_request_is_plain_chat_completions(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("ok", streams(*HELLO))
    tool = {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}
    request = ask(url, tools=(tool,), max_output_tokens=99)
    await client.stream(request, on_text=lambda text: None, record=records.append)
    (exchange,) = server.requests["ok"]
    assert exchange.body == {
        "model": "test-model",
        "messages": request.messages,
        "tools": [tool],
        "max_completion_tokens": 99,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert exchange.headers["authorization"] == f"Bearer {request.model.endpoint.api_key}"
    assert exchange.headers["accept-encoding"] == "identity"


async def test_background_calls_do_not_stream(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("plain", answers(200, message("Hello")))
    done = await client.complete(ask(url), record=records.append)
    assert (done.text, done.usage, done.first_token_ms) == ("Hello", Usage(10, 6, 4), None)
    assert "stream" not in server.requests["plain"][0].body
