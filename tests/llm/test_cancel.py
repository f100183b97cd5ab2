"""Cancellation closes the connection at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from llm.client import Client
from llm.loop import ModelLoop
from llm.types import CallRecord, ChatRequest, Deadlines, Usage
from tests.llm.fault_server import USAGE, Behaviour, Exchange, FaultServer, chunk, chunked, error, hang, streams, until

Ask = Callable[..., ChatRequest]


async def talk_for_ever(exchange: Exchange) -> None:
    while True:
        await exchange.send(chunked(chunk("la ")))
        await asyncio.sleep(0.005)


WAITS: dict[str, Behaviour] = {
    "before the head": hang,
    "before the first event": streams(then=hang),
    "in a stalled stream": streams(chunk("Hel"), then=hang),
    "in a running stream": streams(then=talk_for_ever),
}


@pytest.mark.parametrize("moment", WAITS)
@pytest.mark.parametrize("method", ["stream", "complete"])
async def test_cancelling_closes_the_connection(
    moment: str, method: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    request = ask(server.script("case", WAITS[moment]), deadlines=Deadlines(60, 60))
    heard: list[str] = []
    if method == "stream":
        task = asyncio.create_task(client.stream(request, on_text=heard.append, record=records.append))
    else:
        task = asyncio.create_task(client.complete(request, record=records.append))
    await until(lambda: server.requests["case"] and (heard or "stream" not in moment or method == "complete"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.departures["case"].wait(), 2)
    assert [record.error_code for record in records] == ["cancelled"]
    assert records[0].output == "".join(heard)


async def test_the_usage_of_a_canceled_call_is_recorded(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    heard: list[str] = []
    request = ask(server.script("case", streams(USAGE, chunk("Hel"), then=hang)), deadlines=Deadlines(60, 60))
    task = asyncio.create_task(client.stream(request, on_text=heard.append, record=records.append))
    await until(lambda: heard)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert records[0].usage == Usage(10, 0, 4)


async def test_cancelling_from_another_thread_closes_the_connection(
    server: FaultServer, ask: Ask, records: list[CallRecord]
) -> None:
    """As in a worker: the client runs on the loop's thread, and the future is canceled from another."""
    loop, client, heard = ModelLoop(), Client(), []
    request = ask(server.script("case", streams(chunk("Hel"), then=hang)), deadlines=Deadlines(60, 60))
    future = loop.submit(client.stream(request, on_text=heard.append, record=records.append))
    await until(lambda: heard)
    future.cancel()
    await asyncio.wait_for(server.departures["case"].wait(), 2)
    await until(lambda: records)
    assert [record.error_code for record in records] == ["cancelled"]
    await asyncio.wrap_future(loop.submit(client.aclose()))
    loop.stop()


async def test_cancelling_between_attempts_sends_no_further_request(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(429, "slow down", headers={"Retry-After": "20"}))
    request = ask(url, deadlines=Deadlines(60, 60))
    task = asyncio.create_task(client.complete(request, record=records.append))
    await until(lambda: server.requests["case"])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(record.error_code, record.attempts) for record in records] == [("cancelled", 1)]


async def test_cancelling_a_call_does_not_affect_other_calls(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    stalled = ask(server.script("stalled", streams(chunk("Hel"), then=hang)))
    fine = ask(server.script("fine", streams(chunk("Hello"), chunk(finish="stop"))))
    task = asyncio.create_task(client.stream(stalled, on_text=str, record=records.append))
    await until(lambda: server.requests["stalled"])
    task.cancel()
    done = await client.stream(fine, on_text=str, record=records.append)
    assert done.text == "Hello"
    assert sorted(str(record.error_code) for record in records) == ["None", "cancelled"]
