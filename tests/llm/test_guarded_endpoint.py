"""A project's model endpoint is called through the guard; the operator's is trusted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from llm import errors
from llm.client import Client
from llm.types import CallRecord, ChatRequest, Deadlines
from outbound.guard import Guard
from tests.llm.fault_server import DONE, FaultServer, answers, chunk, error, hang, message, streams, until

Ask = Callable[..., ChatRequest]
HELLO = streams(chunk("Hello"), chunk(finish="stop"), DONE)


async def nothing_public(host: str, port: int) -> list[str]:
    return ["93.184.216.34", "10.0.0.7"]


@pytest_asyncio.fixture
async def allowed() -> AsyncIterator[Client]:
    client = Client(outbound=Guard(["127.0.0.1"]))
    yield client
    await client.aclose()


async def test_a_projects_local_endpoint_is_blocked(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    with pytest.raises(errors.Blocked, match=r"inside a private network \(127\.0\.0\.1\)"):
        await client.stream(ask(server.script("case", HELLO), trusted=False), on_text=str, record=records.append)
    assert server.connections == 0
    assert (records[0].error_code, records[0].attempts) == ("blocked_address", 1)


async def test_a_name_with_a_private_address_is_blocked(ask: Ask, records: list[CallRecord]) -> None:
    client = Client(outbound=Guard(resolver=nothing_public))
    with pytest.raises(errors.Blocked, match=r"10\.0\.0\.7"):
        await client.complete(ask("https://models.example/v1", trusted=False), record=records.append)
    await client.aclose()


async def test_an_allowed_endpoint_streams(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    done = await allowed.stream(ask(server.script("case", HELLO), trusted=False), on_text=str, record=records.append)
    assert done.text == "Hello"


async def test_a_projects_endpoint_receives_nothing_of_the_operators_environment(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "operator-org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "operator-project")
    monkeypatch.setenv("OPENAI_API_KEY", "operator-key")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Operator: operator-header\nAuthorization: Bearer operator-auth")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    url = server.script("case", answers(200, message("Hello")))
    await allowed.complete(ask(url, trusted=False, key=""), record=records.append)
    headers = server.requests["case"][0].headers
    assert "operator" not in repr(headers)
    assert headers["authorization"] == "Bearer none"


@pytest.mark.parametrize("is_trusted", [False, True])
async def test_a_redirect_is_not_followed(
    is_trusted: bool, server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    inside = server.script("inside", HELLO)
    url = server.script("case", answers(307, "", headers={"Location": f"{inside}/chat/completions"}))
    with pytest.raises(errors.Rejected):
        await allowed.complete(ask(url, trusted=is_trusted), record=records.append)
    assert not server.requests["inside"]


async def test_an_endpoints_cookies_are_not_stored(
    server: FaultServer, client: Client, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message("Hello"), headers={"Set-Cookie": "session=abc; Path=/"}))
    for each, is_trusted in ((client, True), (allowed, False)):
        for _ in range(2):
            await each.complete(ask(url, trusted=is_trusted), record=records.append)
    assert ["cookie" in exchange.headers for exchange in server.requests["case"]] == [False] * 4


async def test_a_compressed_response_is_rejected(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """Its connection is closed too, so that an endpoint can't use up this machine's connections."""
    url = server.script("case", answers(200, "x", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(errors.BadAnswer):
        await allowed.complete(ask(url, trusted=False), record=records.append)
    await asyncio.wait_for(server.departures["case"].wait(), 5)


@pytest.fixture
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outbound.guard.MODEL_MAX_BYTES", 1000)


@pytest.mark.usefixtures("small_answers")
async def test_an_endless_error_page_is_not_read(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(403, "x" * 100_000))
    with pytest.raises(errors.BadAnswer):
        await allowed.complete(ask(url, trusted=False), record=records.append)


async def test_a_tenants_silent_endpoint_does_not_delay_other_tenants(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    silent = ask(server.script("silent", hang), trusted=False, deadlines=Deadlines(60, 60))
    waiting = [asyncio.create_task(allowed.complete(silent, record=records.append)) for _ in range(40)]
    await until(lambda: len(server.requests["silent"]) == len(waiting))
    done = await allowed.stream(ask(server.script("case", HELLO), trusted=False), on_text=str, record=records.append)
    assert done.text == "Hello"
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_cancelling_closes_a_guarded_connection(
    server: FaultServer, allowed: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk("Hel"), then=hang))
    heard: list[str] = []
    task = asyncio.create_task(allowed.stream(ask(url, trusted=False), on_text=heard.append, record=records.append))
    await until(lambda: heard)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.departures["case"].wait(), 2)
