"""The least speed of a streamed answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from llm import errors, pace
from llm.client import Client
from llm.types import CallRecord, ChatRequest, Deadlines
from tests.llm.fault_server import Behaviour, Exchange, FaultServer, chunk, chunked, streams

Ask = Callable[..., ChatRequest]
WINDOW_S = 0.2


@pytest.fixture(autouse=True)
def short_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "WINDOW_S", WINDOW_S)


def trickles(*events: str, pause_s: float) -> Behaviour:
    """The rest of a stream, slowly. It ends well."""

    async def behave(exchange: Exchange) -> None:
        for event in events:
            await asyncio.sleep(pause_s)
            await exchange.send(chunked(event))
        await exchange.send(chunked(chunk(finish="stop")) + "0\r\n\r\n")

    return behave


async def test_a_stream_that_trickles_is_cut(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """A server that sent one word every five seconds held each slot for a minute."""
    slow = trickles(*[chunk("word ")] * 20, pause_s=WINDOW_S / 2)
    url = server.script("case", streams(chunk("first "), then=slow))
    with pytest.raises(errors.TooSlow) as caught:
        await client.stream(ask(url, deadlines=Deadlines(60, 60)), on_text=str, record=records.append)
    assert caught.value.partial.startswith("first word")
    assert records[0].error_code == "too_slow"
    await asyncio.wait_for(server.departures["case"].wait(), 5)


async def test_a_slow_model_that_keeps_the_pace_is_heard_to_the_end(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    steady = trickles(*[chunk("word ")] * 40, pause_s=WINDOW_S / 40)
    url = server.script("case", streams(chunk("first "), then=steady))
    done = await client.stream(ask(url), on_text=str, record=records.append)
    assert done.text.count("word") == 40


async def test_events_without_text_count(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """A model may think in the middle of its answer."""
    thinks = trickles(*[chunk(reasoning_content="hm")] * 40, chunk("so"), pause_s=WINDOW_S / 40)
    url = server.script("case", streams(chunk("first "), then=thinks))
    assert (await client.stream(ask(url), on_text=str, record=records.append)).text == "first so"


async def test_few_long_events_count_as_many_tokens(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    paragraphs = trickles(*[chunk("A paragraph of an answer. ")] * 3, pause_s=WINDOW_S * 0.6)
    url = server.script("case", streams(chunk("first "), then=paragraphs))
    done = await client.stream(ask(url), on_text=str, record=records.append)
    assert done.text.count("paragraph") == 3
