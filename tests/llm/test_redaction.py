"""Redaction of API keys in errors, their context, and records."""

from __future__ import annotations

import base64
import traceback
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from llm import errors
from llm.client import Client
from llm.redaction import Redactor
from llm.types import CallRecord, ChatRequest, Endpoint, ModelSpec
from tests.llm.conftest import KEY
from tests.llm.fault_server import Behaviour, FaultServer, answers, chunk, error, message, streams

Ask = Callable[..., ChatRequest]
FORMS = (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode())
ECHOES: dict[str, Behaviour] = {
    "401": error(401, f"Incorrect API key provided: {KEY}"),
    "500": error(500, f"request failed: Authorization: Bearer {KEY}"),
    "400 as text": answers(400, " ".join(FORMS), kind="text/plain"),
    "error in 200": answers(200, {"error": {"message": KEY}}),
    "no JSON": answers(200, f"not for {KEY}"),
    "refusal": answers(200, message(None, refusal=KEY)),
    "key at the cut": error(401, "x" * 450 + KEY),
}


def chain(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        yield from chain(exc.__context__)
        exc = exc.__cause__


@pytest.mark.parametrize("name", ECHOES)
async def test_an_echoed_key_is_not_in_the_exception(
    name: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    with pytest.raises(errors.LlmError) as caught:
        await client.complete(ask(server.script("case", ECHOES[name])), record=records.append)
    texts = [f"{exc!r} {exc.args} {vars(exc)}" for exc in chain(caught.value)]
    texts += [*traceback.format_exception(caught.value), repr(records)]
    assert not [form for form in (*FORMS, KEY[:12]) for text in texts if form in text]
    assert len(texts) > 2


async def test_a_key_in_the_answer_is_not_recorded(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    call = {"id": "a", "function": {"name": "book", "arguments": f'{{"key": "{KEY}"}}'}}
    url = server.script("case", answers(200, message(f"The key is {KEY}.", tool_calls=[call], finish="tool_calls")))
    messages = [{"role": "user", "content": [{"type": "text", "text": f"Is it {KEY}?"}]}]
    await client.complete(ask(url, messages=messages), record=records.append)
    assert KEY not in repr(records)
    assert records[0].output == "The key is [redacted]."


async def test_a_key_in_a_partial_answer_is_redacted(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk(f"The key is {KEY}.")))
    with pytest.raises(errors.StreamCut) as caught:
        await client.stream(ask(url), on_text=str, record=records.append)
    assert caught.value.partial == "The key is [redacted]."


async def test_a_key_is_sent_and_redacted_without_surrounding_blanks(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", ECHOES["401"])
    with pytest.raises(errors.Rejected, match="redacted") as caught:
        await client.complete(ask(url, key=f" {KEY}\n"), record=records.append)
    assert server.requests["case"][0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value)


def test_a_key_is_not_in_the_repr_of_an_endpoint() -> None:
    assert KEY not in repr(ModelSpec(Endpoint("http://x/v1", KEY), "m"))


def test_a_placeholder_key_is_not_redacted() -> None:
    assert Redactor("none").text("none of these") == "none of these"
    assert Redactor("").text("text") == "text"
