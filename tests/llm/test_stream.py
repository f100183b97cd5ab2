"""Streamed answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llm.client import Client
from llm.errors import BadAnswer, Refused, Rejected
from llm.response_reader import DataLines
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


async def test_pieces_of_text_arrive_in_order(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    done = await client.stream(ask(server.script("ok", streams(*HELLO))), on_text=pieces.append, record=records.append)
    assert pieces == ["Hel", "lo"]
    assert (done.text, done.finish, done.attempts) == ("Hello", FinishReason.STOP, 1)
    assert done.usage == Usage(10, 0, 4)


async def test_a_piece_arrives_before_the_next_is_sent(
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


async def test_a_successful_call_is_recorded_once_and_completely(
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


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_events_split_anywhere_are_reassembled(size: int) -> None:
    """TCP may split the pieces that a server sends, so the test splits the lines themselves."""
    whole = b': comment\r\n\r\ndata: {"text": "H\xc3\xa9"}\r\n\r\nevent: x\ndata:{"text": "lo"}\n\ndata: [DONE]'
    lines = DataLines()
    found = [line for at in range(0, len(whole), size) for line in lines.feed(whole[at : at + size])]
    assert [*found, *lines.close()] == [b'{"text": "H\xc3\xa9"}', b'{"text": "lo"}', b"[DONE]"]


def test_an_endless_line_is_rejected() -> None:
    """An endless line could fill the memory."""
    lines = DataLines()
    with pytest.raises(BadAnswer, match="more than 1 MiB"):
        for _ in range(17):
            lines.feed(b"x" * 64 * 1024)


async def test_comments_empty_events_and_an_unterminated_last_line_are_accepted(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    events = (": keep-alive\r\n\r\n", "data:\n\n", *HELLO[:3], chunk(finish="stop").rstrip())
    url = server.script("odd", streams(*events))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (done.text, done.finish, done.attempts) == ("Hello", FinishReason.STOP, 1)


@pytest.mark.parametrize("method", ["stream", "complete"])
async def test_an_endless_answer_is_rejected(
    method: str,
    server: FaultServer,
    client: Client,
    ask: Ask,
    records: list[CallRecord],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("llm.response_reader.MOST_BYTES", 1000)
    said = ": x\n" * 1000 if method == "stream" else message("x" * 2000)
    url = server.script("long", streams(said) if isinstance(said, str) else answers(200, said))
    with pytest.raises(BadAnswer, match="longer than"):
        if method == "stream":
            await client.stream(ask(url), on_text=str, record=records.append)
        else:
            await client.complete(ask(url), record=records.append)


async def test_a_password_in_the_base_url_is_rejected_and_not_recorded(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("ok", streams(*HELLO)).replace("http://", "http://operator:s3cret@")
    with pytest.raises(Rejected, match="contains a user name or password"):
        await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (records[0].host, server.connections) == (f"127.0.0.1:{server.port}", 0)


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


async def test_fifty_parallel_tool_calls_are_kept_apart(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    calls = [
        {"id": f"c{number}", "function": {"name": "book", "arguments": f'{{"n": {number}}}'}} for number in range(50)
    ]
    url = server.script("fifty", streams(chunk(tool_calls=calls), chunk(finish="tool_calls"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert [call.arguments() for call in done.tool_calls] == [{"n": number} for number in range(50)]


async def test_calls_without_an_index_are_kept_apart_by_id_or_position(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    def call(number: int, **fields: str) -> dict[str, Any]:
        return {**fields, "function": {"name": "book", "arguments": f'{{"n": {number}}}'}}

    one_by_one = (chunk(tool_calls=[call(1, id="a")]), chunk(tool_calls=[call(2, id="b")]))
    at_once = (chunk(tool_calls=[call(1), call(2)]),)
    for events in (one_by_one, at_once):
        url = server.script("whole", streams(*events, chunk(finish="stop"), DONE))
        done = await client.stream(ask(url), on_text=str, record=records.append)
        assert [one.arguments() for one in done.tool_calls] == [{"n": 1}, {"n": 2}]
        # Some close a call with "stop"
        assert done.finish is FinishReason.TOOL_CALLS


async def test_nul_characters_are_removed(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """PostgreSQL can't store it."""
    url = server.script("nul", streams(chunk("Hel\0lo"), chunk(finish="stop"), DONE))
    assert (await client.stream(ask(url), on_text=str, record=records.append)).text == "Hello"


async def test_calls_that_all_have_index_0_are_kept_apart(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    def part(arguments: str, **fields: str) -> str:
        named = {"name": "book"} if fields else {}
        return chunk(tool_calls=[{"index": 0, **fields, "function": {"arguments": arguments, **named}}])

    events = (part('{"n": 1}', id="a"), part('{"n"', id="b"), part(": 2}"), chunk(finish="tool_calls"), DONE)
    done = await client.stream(ask(server.script("zero", streams(*events))), on_text=str, record=records.append)
    assert done.tool_calls == (ToolCall("a", "book", '{"n": 1}'), ToolCall("b", "book", '{"n": 2}'))


@pytest.mark.parametrize(
    "parts",
    [
        [{"arguments": '{"n"'}, {"id": "b", "function": {"arguments": ": 1}"}}],
        [{"arguments": '{"n"'}, {"id": "a", "function": {"name": "book", "arguments": ": 1}"}}],
        [{"arguments": {"n": 1}}, {"id": None, "function": None}],
    ],
    ids=["another id", "everything again", "an object"],
)
async def test_the_parts_of_one_call_are_joined(
    parts: list[dict[str, Any]], server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    first = {"id": "a", "function": {"name": "book", **parts[0]}}
    calls = [{"index": 0, **part} for part in (first, *parts[1:])]
    events = (*(chunk(tool_calls=[call]) for call in calls), chunk(finish="tool_calls"), DONE)
    done = await client.stream(ask(server.script("ids", streams(*events))), on_text=str, record=records.append)
    assert done.tool_calls == (ToolCall("a", "book", '{"n": 1}'),)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_length", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
    ],
)
async def test_finish_reasons_of_other_servers_are_recognized(
    said: str, meant: FinishReason, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk("Hello"), chunk(finish=said), DONE))
    done = await client.stream(ask(url), on_text=str, record=records.append)
    assert (done.text, done.finish) == ("Hello", meant)


@pytest.mark.parametrize("reason", ["content_filter: PROHIBITED_CONTENT", "SAFETY"])
async def test_filter_reasons_of_other_servers_are_recognized(
    reason: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk(finish=reason), DONE))
    with pytest.raises(Refused):
        await client.stream(ask(url), on_text=str, record=records.append)


async def test_a_stream_may_begin_with_a_byte_order_mark(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams("\ufeff" + chunk("Hel"), chunk("lo"), chunk(finish="stop"), DONE))
    assert (await client.stream(ask(url), on_text=str, record=records.append)).text == "Hello"


async def test_tool_arguments_are_made_storable(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """A character split between two events is joined again. Characters that can't be stored are removed."""

    def part(arguments: str, **more: str) -> str:
        return chunk(tool_calls=[{"index": 0, **more, "function": {"name": "book\0", "arguments": arguments}}])

    events = (part('{"for": "\ud83d', id="a\0"), part('\ude00\0\ud83d"}'), chunk(finish="tool_calls"), DONE)
    done = await client.stream(ask(server.script("case", streams(*events))), on_text=str, record=records.append)
    assert done.tool_calls == records[0].tool_calls == (ToolCall("a", "book", '{"for": "😀\ufffd"}'),)


async def test_reasoning_parts_are_left_out_of_the_text(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "They greet me."}]}
    parts = ([thought], [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}])
    events = (*(chunk(content=part) for part in parts), chunk(finish="stop"), DONE)
    pieces: list[str] = []
    url = server.script("parts", streams(*events))
    done = await client.stream(ask(url), on_text=pieces.append, record=records.append)
    assert (done.text, pieces) == ("Hello", ["Hello"])


async def test_truncated_tool_arguments_are_not_returned(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    cut = [{"index": 0, "id": "a", "function": {"name": "send_sms", "arguments": '{"to": '}}]
    url = server.script("cut", streams(chunk(tool_calls=cut), chunk(finish="tool_calls"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert done.tool_calls[0].arguments() is None


async def test_null_and_missing_fields_are_ignored(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    call = [{"index": 0, "id": "a", "function": {"name": "end_call"}}]
    nothing = 'data: {"choices": [{"delta": null, "finish_reason": null}], "usage": null}\n\n'
    events = (USAGE, nothing, chunk(tool_calls=call), nothing, chunk(finish="tool_calls"), nothing, DONE)
    done = await client.stream(ask(server.script("nulls", streams(*events))), on_text=str, record=records.append)
    assert (done.tool_calls, done.finish) == ((ToolCall("a", "end_call", "{}"),), FinishReason.TOOL_CALLS)
    assert done.usage == Usage(10, 0, 4)


async def test_an_invalid_usage_is_ignored(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    usage = {"prompt_tokens": "10", "completion_tokens": -4, "prompt_tokens_details": 5}
    url = server.script("usage", answers(200, message("Hello") | {"usage": usage}))
    assert (await client.complete(ask(url), record=records.append)).usage == Usage()


async def test_length_keeps_the_text_and_drops_the_tool_calls(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    call = [{"index": 0, "id": "a", "function": {"name": "send_sms", "arguments": "{}"}}]
    url = server.script("length", streams(chunk("Hel", tool_calls=call), chunk(finish="length"), DONE))
    done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (done.text, done.tool_calls, done.finish) == ("Hel", (), FinishReason.LENGTH)


async def test_a_server_that_ignores_stream_is_supported(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    url = server.script("plain", answers(200, message("Hello")))
    done = await client.stream(ask(url), on_text=pieces.append, record=records.append)
    assert (done.text, pieces) == ("Hello", ["Hello"])


async def test_the_content_type_is_case_insensitive(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("capitals", answers(200, message("Hello"), kind="Application/JSON"))
    assert (await client.stream(ask(url), on_text=str, record=records.append)).text == "Hello"


async def test_a_complete_answer_waits_only_briefly_for_its_usage(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm.call.USAGE_GRACE_S", 0.2)
    url = server.script("late", streams(chunk("Hello"), chunk(finish="stop"), then=hang))
    async with asyncio.timeout(4):
        done = await client.stream(ask(url), on_text=lambda text: None, record=records.append)
    assert (done.text, done.usage) == ("Hello", Usage())


async def test_a_character_split_between_events_is_joined(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    events = (chunk("Hi \ud83d"), chunk("\ude00"), chunk("!\0\udfff"), chunk("\ud83d"), chunk(finish="stop"), DONE)
    done = await client.stream(ask(server.script("ok", streams(*events))), on_text=pieces.append, record=records.append)
    assert (done.text, pieces) == ("Hi 😀!\ufffd", ["Hi ", "😀", "!\ufffd"])


async def test_the_connection_is_reused(
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


async def test_tools_that_may_not_be_called_are_sent_with_tool_choice_none(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    tool = {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}
    url = server.script("ok", streams(*HELLO))
    await client.stream(ask(url, tools=(tool,), may_call=False), on_text=str, record=records.append)
    body = server.requests["ok"][0].body
    assert (body["tools"], body["tool_choice"]) == ([tool], "none")


async def test_background_calls_do_not_stream(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("plain", answers(200, message("Hello")))
    done = await client.complete(ask(url), record=records.append)
    assert (done.text, done.usage, done.first_token_ms) == ("Hello", Usage(10, 6, 4), None)
    assert "stream" not in server.requests["plain"][0].body
