"""Requests without tools: on an endpoint that refuses them, the prompt offers none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm import errors
from llm.client import Client
from llm.types import CallRecord, ChatRequest
from llm.without_tools import without_tools
from tests.llm.fault_server import DONE, FaultServer, chunk, error, streams

pytestmark = pytest.mark.requirement("W14")

Ask = Callable[..., ChatRequest]
TOOL = {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}
STREAM = streams(chunk("Hello"), chunk(finish="stop"), DONE)
CALLED = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{}"}}
STEP = [
    {"role": "assistant", "content": "One moment.", "tool_calls": [CALLED]},
    {"role": "tool", "tool_call_id": "c1", "content": "Booked."},
]


async def test_llama_cpp_without_jinja_is_asked_again_without_tools(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """It answers 500. The next request is sent without tools at once."""
    refusal = error(500, "tools param requires --jinja flag", code=500)
    url = server.script("case", refusal, STREAM)
    for _ in range(2):
        await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    assert ["tools" in exchange.body for exchange in server.requests["case"]] == [True, False, False]
    assert [record.attempts for record in records] == [2, 1]


async def test_a_refusal_of_tools_takes_them_out_of_the_prompt(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """The record has the messages that were sent."""
    url = server.script("case", error(400, "library/gemma does not support tools"), STREAM)
    request = ask(url, tools=(TOOL,), system_without_tools="Be plain.")
    await client.stream(request, on_text=str, record=records.append)
    systems = [exchange.body["messages"][0]["content"] for exchange in server.requests["case"]]
    assert systems == ["Be kind.", "Be plain."]
    assert records[0].messages[0]["content"] == "Be plain."


def test_earlier_calls_are_told_in_words(ask: Ask) -> None:
    request = ask("http://127.0.0.1/v1", tools=(TOOL,))
    request.messages.extend(STEP)
    plain = without_tools(request)
    assert (plain.tools, [message["role"] for message in plain.messages]) == (
        (),
        ["system", "user", "assistant", "user"],
    )
    assert plain.messages[-2] == {"role": "assistant", "content": "One moment."}
    assert "- book: Booked." in plain.messages[-1]["content"]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "This model's maximum context length is 8192 tokens"),
        (500, "the request exceeds the available context size. try increasing the context size"),
        (503, "Prompt exceeds the maximum context length"),
    ],
)
async def test_a_context_that_is_too_small_is_permanent(
    status: int, text: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(status, text))
    with pytest.raises(errors.Rejected):
        await client.complete(ask(url), record=records.append)
    assert records[0].error_code in errors.PERMANENT_CODES
    assert len(server.requests["case"]) == 1
